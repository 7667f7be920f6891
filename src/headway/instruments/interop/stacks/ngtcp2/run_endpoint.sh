#!/bin/sh
# ngtcp2's gtlsserver and gtlsclient: HTTP/3 only.
[ "$ALPN" = h3 ] || exit 127
export LD_PRELOAD=/usr/lib/headway/random_device.so
if [ "$ROLE" = server ]; then
    set --
    case "$TESTCASE" in
    handshake | transfer | chacha20 | resumption | zerortt | http3 | multiconnect | ecn) ;;
    retry) set -- --validate-addr ;;
    v2) set -- --preferred-versions=0x6b3343cf ;;
    connectionmigration)
        set -- "--preferred-ipv4-addr=$SERVER4:4443" "--preferred-ipv6-addr=[$SERVER6]:4443" ;;
    *) exit 127 ;;
    esac
    exec gtlsserver --quiet --htdocs=/www --timeout=120s --handshake-timeout=120s --initial-pkt-num=0 --qlog-dir="$QLOGDIR" "$@" \
        '*' 443 /certs/priv.key /certs/cert.pem
fi

fetch() {
    gtlsclient --quiet --no-quic-dump --no-http-dump --initial-pkt-num=0 --timeout=120s --handshake-timeout=120s \
        --exit-on-all-streams-close --download=/downloads --qlog-dir="$QLOGDIR" "$@"
}
host=${REQUESTS#https://}
host=${host%%[:/]*}
first=${REQUESTS%% *}
rest=${REQUESTS#* }
case "$TESTCASE" in
handshake | transfer | retry | http3 | ecn) fetch "$host" 443 $REQUESTS ;;
chacha20)
    fetch '--ciphers=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+CHACHA20-POLY1305' "$host" 443 $REQUESTS ;;
keyupdate) fetch --key-update=400ms "$host" 443 $REQUESTS ;;
v2) fetch -v 0x1 --preferred-versions=0x6b3343cf,0x1 --available-versions=0x6b3343cf,0x1 "$host" 443 $REQUESTS ;;
resumption | zerortt)
    [ "$TESTCASE" = zerortt ] && early= || early=--disable-early-data
    fetch --session-file=/tmp/session --tp-file=/tmp/parameters --wait-for-ticket "$host" 443 "$first" &&
        fetch --session-file=/tmp/session --tp-file=/tmp/parameters $early "$host" 443 $rest ;;
multiconnect)
    for request in $REQUESTS; do
        fetch "$host" 443 "$request" || exit 1
    done ;;
*) exit 127 ;;
esac
