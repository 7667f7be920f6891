#!/bin/sh
# headway-server and headway-client: HTTP/3 only.
[ "$ALPN" = h3 ] || exit 127
if [ "$ROLE" = server ]; then
    limits=off early=0
    case "$TESTCASE" in
    handshake | transfer | http3 | resumption | multiconnect | chacha20 | ecn) ;;
    retry) limits=off,half-open-share=0% ;;
    zerortt) early=16384 ;;
    *) exit 127 ;;
    esac
    for address in $SERVER4 ${SERVER6:+"[$SERVER6]"}; do
        set -- "$@" "--listen=$address:443"
    done
    exec headway-server "$@" --cert=/certs/cert.pem --key=/certs/priv.key --protocols=h3 --root=/www \
        --early-data=$early --quic=idle-timeout=300s --qlog="$QLOGDIR" --limits=$limits
fi

fetch() {
    headway-client --ca=/certs/ca.pem --protocol=h3 --output=/downloads --qlog="$QLOGDIR" --timeout=0 \
        --quic="idle-timeout=300s$knobs" "$@"
}
knobs=""
case "$TESTCASE" in
handshake | transfer | retry | http3 | ecn) fetch $REQUESTS ;;
chacha20) fetch --cipher=chacha20-poly1305 $REQUESTS ;;
keyupdate)
    knobs=,key-update=100    # packets, which are acknowledgments of twice as many
    fetch $REQUESTS ;;
resumption | zerortt) fetch --early-data $REQUESTS ;;
multiconnect)
    for request in $REQUESTS; do
        fetch "$request" || exit 1
    done ;;
*) exit 127 ;;
esac
