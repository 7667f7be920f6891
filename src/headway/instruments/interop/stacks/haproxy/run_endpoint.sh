#!/bin/sh
# HAProxy as a server, before an nginx that has the files, through a Unix socket.
[ "$ROLE" = server ] || exit 127
options=
case "$TESTCASE" in
handshake | transfer | chacha20 | resumption | http3 | multiconnect | v2) ;;
retry) options=quic-force-retry ;;
zerortt) options=allow-0rtt ;;
*) exit 127 ;;
esac
cat >/logs/nginx.conf <<EOF
user root;
worker_processes 1;
pid /logs/nginx.pid;
error_log /logs/nginx.log;
daemon off;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path /tmp/body; proxy_temp_path /tmp/proxy; fastcgi_temp_path /tmp/fcgi;
    uwsgi_temp_path /tmp/uwsgi; scgi_temp_path /tmp/scgi;
    server { listen unix:/tmp/nginx.socket; keepalive_requests 100000; root /www; }
}
EOF
cat >/logs/haproxy.cfg <<EOF
global
  nbthread 1
  maxconn 4000
crt-store
  load crt /certs/cert.pem key /certs/priv.key alias server
defaults
  mode http
  timeout connect 60s
  timeout client 300s
  timeout server 300s
frontend clients
$(for address in ${SERVER4:+"quic4@$SERVER4:443"} ${SERVER6:+"quic6@[$SERVER6]:443"}; do
    echo "  bind $address ssl crt @/server alpn $ALPN $options"
done)
  default_backend origin
backend origin
  server origin unix@/tmp/nginx.socket
EOF
nginx -c /logs/nginx.conf &
exec haproxy -db -q -f /logs/haproxy.cfg
