#!/bin/sh
# curl as a client; its QUIC is ngtcp2.
[ "$ROLE" = client ] && [ "$ALPN" = h3 ] || exit 127
cd /downloads || exit 1
fetch() {
    curl --silent --show-error --fail --http3-only --connect-timeout 120 --cacert /certs/ca.pem --parallel --parallel-max 90 \
        --remote-name-all "$@"
}
case "$TESTCASE" in
handshake | transfer | retry | http3) fetch $REQUESTS ;;
chacha20) fetch --tls13-ciphers TLS_CHACHA20_POLY1305_SHA256 $REQUESTS ;;
resumption)
    # The sessions of a process are shared, and another port of its own makes another connection.
    set -- --silent --show-error --fail --http3-only --connect-timeout 120 --cacert /certs/ca.pem --remote-name-all
    exec curl "$@" --local-port 40001 "${REQUESTS%% *}" --next "$@" --local-port 40002 ${REQUESTS#* } ;;
multiconnect)
    for request in $REQUESTS; do
        fetch "$request" || exit 1
    done ;;
*) exit 127 ;;
esac
