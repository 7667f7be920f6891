#!/bin/sh
# Envoy as a server, before an nginx that has the files, through a Unix socket; its QUIC is QUICHE.
[ "$ROLE" = server ] || exit 127
case "$TESTCASE" in
handshake | transfer | chacha20 | resumption | zerortt | http3 | multiconnect) ;;
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
address=${SERVER4:-$SERVER6}
types=type.googleapis.com/envoy.extensions
manager=$types.filters.network.http_connection_manager.v3.HttpConnectionManager
cat >/logs/envoy.json <<EOF
{"static_resources": {
  "listeners": [{
    "name": "quic",
    "address": {"socket_address": {"protocol": "UDP", "address": "$address", "port_value": 443}},
    "udp_listener_config": {"quic_options": {"idle_timeout": "120s", "crypto_handshake_timeout": "120s"}},
    "filter_chains": [{
      "filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": {
        "@type": "$manager", "codec_type": "HTTP3", "stat_prefix": "http3", "http3_protocol_options": {},
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"],
          "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "origin", "timeout": "0s"}}]}]},
        "http_filters": [{"name": "envoy.filters.http.router",
          "typed_config": {"@type": "$types.filters.http.router.v3.Router"}}]}}],
      "transport_socket": {"name": "envoy.transport_sockets.quic", "typed_config": {
        "@type": "$types.transport_sockets.quic.v3.QuicDownstreamTransport",
        "downstream_tls_context": {"common_tls_context": {
          "alpn_protocols": ["h3"],
          "tls_certificates": [{"certificate_chain": {"filename": "/certs/cert.pem"},
            "private_key": {"filename": "/certs/priv.key"}}]}}}}
    }]
  }],
  "clusters": [{
    "name": "origin", "type": "STATIC", "connect_timeout": "60s",
    "load_assignment": {"cluster_name": "origin", "endpoints": [{"lb_endpoints": [
      {"endpoint": {"address": {"pipe": {"path": "/tmp/nginx.socket"}}}}]}]}
  }]
}}
EOF
nginx -c /logs/nginx.conf &
exec envoy -c /logs/envoy.json --concurrency 1 --disable-hot-restart -l error
