#!/bin/sh
# Caddy as a server; its QUIC is quic-go.
[ "$ROLE" = server ] || exit 127
case "$TESTCASE" in
handshake | transfer | chacha20 | resumption | zerortt | http3 | multiconnect | ecn) ;;
*) exit 127 ;;
esac
cat >/logs/caddy.json <<EOF
{
  "admin": {"disabled": true, "config": {"persist": false}},
  "apps": {
    "http": {"servers": {"lab": {
      "listen": [":443"],
      "protocols": ["h3"],
      "automatic_https": {"disable": true},
      "tls_connection_policies": [{"protocol_min": "tls1.3"}],
      "routes": [{"handle": [{"handler": "file_server", "root": "/www"}]}]
    }}},
    "tls": {
      "certificates": {"load_files": [{"certificate": "/certs/cert.pem", "key": "/certs/priv.key"}]},
      "disable_storage_check": true,
      "disable_storage_clean": true
    }
  }
}
EOF
exec caddy run --config /logs/caddy.json
