#!/bin/sh
# nginx as a server: HTTP/0.9 and HTTP/3, on all addresses.
retry=off early=off
case "$TESTCASE" in
handshake | transfer | chacha20 | resumption | http3 | multiconnect) ;;
retry) retry=on ;;
zerortt) early=on ;;
*) exit 127 ;;
esac
[ "$ROLE" = server ] || exit 127
[ "$ALPN" = h3 ] && hq=off || hq=on
cat >/logs/nginx.conf <<EOF
user root;
worker_processes 1;
pid /logs/nginx.pid;
error_log /logs/nginx.log info;
daemon off;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path /tmp/body; proxy_temp_path /tmp/proxy; fastcgi_temp_path /tmp/fcgi;
    uwsgi_temp_path /tmp/uwsgi; scgi_temp_path /tmp/scgi;
    server {
        listen 443 quic;
        listen [::]:443 quic;
        http3 on;
        keepalive_requests 100000;
        keepalive_timeout 300s;
        client_header_timeout 300s;
        http3_hq $hq;
        quic_retry $retry;
        ssl_protocols TLSv1.3;
        ssl_early_data $early;
        ssl_certificate /certs/cert.pem;
        ssl_certificate_key /certs/priv.key;
        root /www;
    }
}
EOF
exec nginx -c /logs/nginx.conf
