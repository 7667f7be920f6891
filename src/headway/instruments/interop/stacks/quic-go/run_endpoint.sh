#!/bin/sh
# quic-go's own endpoints for interoperability.
if [ "$ROLE" = server ]; then
    exec /lab/extras/quic-go-interop-server/quic-go-interop-server
fi
exec /lab/extras/quic-go-interop-client/quic-go-interop-client $REQUESTS
