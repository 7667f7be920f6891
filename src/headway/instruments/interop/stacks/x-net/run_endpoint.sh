#!/bin/sh
# golang.org/x/net/quic, by its own endpoint for interoperability: HTTP/0.9 only.
program=/lab/extras/x-net-interop/x-net-interop
if [ "$ROLE" = server ]; then
    exec $program -listen=:443 -cert=/certs/cert.pem -key=/certs/priv.key -root=/www -qlog="$QLOGDIR"
fi
exec $program -output=/downloads -qlog="$QLOGDIR" $REQUESTS
