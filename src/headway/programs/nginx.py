"""nginx: cleartext HTTP/1.1, and HTTP/1.1, HTTP/2 and HTTP/3 over TLS 1.3."""

from __future__ import annotations

from headway.guest.orders import Program
from headway.lab.network import SERVER_NAME
from headway.programs.base import Adjustment, Knob, Server, Started, port
from headway.study.model import Protocol, Setting

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

_TLS = "    ssl_certificate /lab/pki/server.pem;\n    ssl_certificate_key /lab/pki/server.key;"

_LISTEN = {
    Protocol.H1: "    listen {address}:{port} ssl;\n    http2 off;",
    Protocol.H2: "    listen {address}:{port} ssl;\n    http2 on;",
    Protocol.H3: "    listen {address}:{port} quic;\n    http3 on;",
}


class Nginx(Server):
    """nginx, one process."""

    name = "nginx"
    package = "nginx"
    protocols = frozenset(Protocol)
    quic_congestion_control = "cubic"
    knobs = (
        Knob("http3_stream_buffer_size", "64m", "how much of a response QUIC may have in flight or unsent"),
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
        Adjustment("nginx", "http2_chunk_size", "16k", "DATA frames fill TLS records, as for HTTP/1.1"),
        Adjustment(
            "nginx", "ssl_session_tickets", "off", "every connection pays for a full handshake"
        ),
    )

    def start(self, setting: Setting, address: str) -> Started:
        """See `Server.start`."""
        if setting.tls:
            listen = _LISTEN[setting.protocol].format(address=address, port=port(setting)) + f"\n{_TLS}"
        else:
            listen = f"    listen {address}:{port(setting)};"
        knobs = {knob.name: self.knob(knob.name, setting.server.knobs) for knob in self.knobs}
        configuration = _CONFIGURATION.format(name=SERVER_NAME, listen=listen, **knobs)
        transport = "udp" if setting.protocol is Protocol.H3 else "tcp"
        return Started(
            Program(
                name=self.name,
                namespace="server",
                argv=("nginx", "-p", "/run", "-e", "stderr", "-c", "/run/nginx.conf"),
                service=True,
                listens=(f"{transport}:{port(setting)}",),
            ),
            {"/run/nginx.conf": configuration},
        )
