"""nginx: cleartext HTTP/1.1, and HTTP/1.1, HTTP/2 and HTTP/3 over TLS 1.3."""

from __future__ import annotations

from headway.guest.orders import Program
from headway.programs.base import (
    SERVER_NAME,
    Adjustment,
    Knob,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.study.model import Capture, Host, Protocol

_CONFIGURATION = """\
daemon off;
master_process off;
user root;
pid /run/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush off;
  keepalive_timeout 600;
  client_body_temp_path /run/nginx-body;
  proxy_temp_path /run/nginx-proxy;
  fastcgi_temp_path /run/nginx-fastcgi;
  uwsgi_temp_path /run/nginx-uwsgi;
  scgi_temp_path /run/nginx-scgi;
  http2_chunk_size {http2_chunk_size};
  http3_stream_buffer_size {http3_stream_buffer_size};
  quic_gso {quic_gso};
  ssl_protocols TLSv1.3;
  ssl_buffer_size {ssl_buffer_size};
  ssl_session_tickets off;
  server {{
    server_name {name};
    root /lab/www;
{listen}
  }}
}}
"""

_CERTIFICATE = """\
    ssl_certificate /lab/pki/server.pem;
    ssl_certificate_key /lab/pki/server.key;
"""


class Nginx(Server):
    """nginx, one process."""

    name = "nginx"
    package = "nginx"
    protocols = frozenset(Protocol)
    quic_congestion_controls = ("cubic",)
    knobs = (
        Knob(
            "http3_stream_buffer_size",
            "64m",
            "how much of a response QUIC may have in flight or unsent",
        ),
        Knob("http2_chunk_size", "16k", "largest DATA frame"),
        Knob("ssl_buffer_size", "16k", "largest TLS record"),
        Knob("quic_gso", "off", "whether QUIC hands the kernel many packets in one call"),
    )
    adjustments = (
        Adjustment(
            "nginx",
            "http3_stream_buffer_size",
            "64m",
            "its default of 64k caps a stream at 64 KiB per round trip: 5.2 Mbit/s at 100 ms",
        ),
        Adjustment(
            "nginx",
            "QUIC congestion control",
            "cubic",
            "built in; a study's congestion_control is that of TCP",
        ),
        Adjustment(
            "nginx", "http2_chunk_size", "16k", "DATA frames fill TLS records, as for HTTP/1.1"
        ),
        Adjustment(
            "nginx", "ssl_session_tickets", "off", "every connection pays for a full handshake"
        ),
    )

    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        """See `Server.serve`."""
        address, lines = listener.address, []
        if Protocol.H3 in listener.protocols:
            lines += [f"listen {address}:443 quic;", "http3 on;"]
        if listener.tls and listener.protocols - {Protocol.H3}:
            lines += [f"listen {address}:443 ssl;"]
        if not listener.tls:
            lines += [f"listen {address}:80;"]
        lines.append(f"http2 {'on' if Protocol.H2 in listener.protocols else 'off'};")
        values = {knob.name: self.knob(knob.name, host) for knob in self.knobs}
        listen = "".join(f"    {line}\n" for line in lines)
        configuration = _CONFIGURATION.format(
            name=SERVER_NAME, listen=listen + (_CERTIFICATE if listener.tls else ""), **values
        )
        argv = ("nginx", "-p", "/run", "-e", "stderr", "-c", "/run/nginx.conf")
        program = Program(
            self.name, listener.namespace, argv, service=True, listens=served_on(listener)
        )
        return Started((program,), {"/run/nginx.conf": configuration})
