#!/bin/sh
# quic-go's own endpoints for interoperability.
# They mark their packets in every case, but do not know the name of this one.
[ "$TESTCASE" = ecn ] && export TESTCASE=transfer
if [ "$ROLE" = server ]; then
    exec /lab/extras/quic-go-interop-server/quic-go-interop-server
fi
exec /lab/extras/quic-go-interop-client/quic-go-interop-client $REQUESTS
