"""nginx, a server and a reverse proxy: HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from headway.contract.program import Program
from headway.overriding import override
from headway.programs import nginx_application, nginx_replay, uploads
from headway.programs.accesslogs import heard_by_nginx
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    RETRY,
    SERVER_NAME,
    Adjustment,
    Knob,
    Listener,
    Origin,
    ReverseProxy,
    Server,
    Started,
    served_on,
)
from headway.programs.headway_server import replay_for_proxy
from headway.programs.keyexchange import ANY, KEY_EXCHANGE, key_exchange, openssl_group
from headway.study.application import Application
from headway.study.capture import Capture
from headway.study.host import HTTP, Host, Protocol

_CONFIGURATION = """\
{main}daemon off;
master_process off;
user root;
pid /run/nginx-{instance}.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush off;
  keepalive_timeout 600;
  send_timeout 600;
  client_body_temp_path /run/nginx-{instance}-body;
  proxy_temp_path /run/nginx-{instance}-proxy;
  fastcgi_temp_path /run/nginx-{instance}-fastcgi;
  uwsgi_temp_path /run/nginx-{instance}-uwsgi;
  scgi_temp_path /run/nginx-{instance}-scgi;
{http}  server {{
    server_name {name};
{server}  }}
}}
"""


@dataclass(frozen=True)
class _Directives:
    """What a configuration has besides, by the block that it stands in."""

    server: tuple[str, ...]
    http: tuple[str, ...] = ()
    main: tuple[str, ...] = ()


_VERIFICATION = (
    "proxy_ssl_protocols TLSv1.3;",
    "proxy_ssl_verify on;",
    f"proxy_ssl_trusted_certificate {CA_FILE};",
    "proxy_ssl_server_name on;",
    f"proxy_ssl_name {SERVER_NAME};",
    # Without it, nginx leaves Nagle's algorithm on for its connection to the server: the request
    # waits for the acknowledgement of the handshake's last message.
    "proxy_ssl_session_reuse on;",
)

_KNOBS = (
    Knob(
        "http3_stream_buffer_size",
        "64m",
        "how much of a response QUIC may have in flight or unsent",
    ),
    Knob("http2_chunk_size", "16k", "largest DATA frame"),
    Knob("ssl_buffer_size", "16k", "largest TLS record"),
    Knob(
        "tls",
        "1.3",
        "version of TLS over TCP; QUIC has 1.3",
        ("1.2", "1.3"),
        over_quic=("1.3",),
    ),
    Knob(
        "quic_gso", "off", "whether QUIC hands the kernel many packets in one call", ("on", "off")
    ),
    RETRY,
    key_exchange("takes"),
    Knob(
        "ktls",
        "off",
        "whether the kernel encrypts what TCP sends, files with sendfile (kernel TLS)",
        ("on", "off"),
    ),
)
_ADJUSTMENTS = (
    Adjustment(
        "nginx",
        "http3_stream_buffer_size",
        "64m",
        "its default of 64k caps a stream at 64 KiB per round trip: 5.2 Mbit/s at 100 ms",
    ),
    Adjustment("nginx", "QUIC congestion control", "cubic", "built in, its only one"),
    Adjustment("nginx", "http2_chunk_size", "16k", "DATA frames fill TLS records, as for HTTP/1.1"),
    Adjustment("nginx", "ssl_session_tickets", "off", "every connection pays for a full handshake"),
)


class Nginx(Server):
    """nginx, one process."""

    name = "nginx"
    package = "nginx"
    protocols = HTTP
    quic_congestion_controls = ("cubic",)
    replays = True
    offers_several = True
    offers_elsewhere = True
    has_several_addresses = True
    executable: ClassVar[str] = "nginx"
    modules: ClassVar[str] = "/usr/lib/nginx/modules"
    takes_uploads = True
    has_application = True
    takes_websockets = frozenset({Protocol.H1})
    knobs = (*_KNOBS, *nginx_application.CONTENT_KNOBS, *nginx_application.STREAM_KNOBS)
    adjustments: tuple[Adjustment, ...] = (
        *_ADJUSTMENTS,
        Adjustment(
            "nginx",
            "proxy_pass",
            "headway-server",
            "of recorded sites only, which it cannot replay itself; fields are as recorded, "
            "without its own Server and Date",
        ),
        *nginx_application.CONTENT_ADJUSTMENTS,
        Adjustment(
            "nginx",
            "proxy_pass",
            "headway-server on the same host",
            "of uploads, series of requests and streams only, which it hands on to an application",
        ),
        Adjustment(
            "nginx",
            "proxy_buffer_size, proxy_buffers",
            "16k, 8 16k",
            "of series of requests with header_down only: a header section beyond its default of 4k gets status 502",
        ),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        values = {knob.name: self.knob(knob.name, host) for knob in self.knobs}
        listening = _listening(listener, values)
        if listener.application:
            front = _started(
                listener,
                _Directives(
                    (*listening, *nginx_application.upstream(values, listener.application))
                ),
                self.executable,
            )
            behind = uploads.upstream(listener.namespace, listener.application)
            return Started(behind.programs + front.programs, front.files)
        if not listener.site:
            log_format, log = heard_by_nginx(listener)
            served = _Directives((*listening, "root /lab/www;", *log), http=log_format)
            return _started(listener, served, self.executable)
        directives = _Directives(
            server=(*listening, *nginx_replay.DIRECTIVES),
            http=(nginx_replay.UPSTREAM,),
            main=(f"load_module {self.modules}/{nginx_replay.MODULE};",),
        )
        front = _started(listener, directives, self.executable)
        origin = replay_for_proxy(listener, nginx_replay.PORT)
        return Started(origin.programs + front.programs, front.files)


class Nginx126(Nginx):
    """nginx 1.26 of Debian 13, whose QUIC is that of the years before 1.27.5.

    Its smallest congestion window is twice its own max_udp_payload_size of 65,527 bytes, 131 kB
    whatever the client, so that it hardly reacts to loss; studies of that time measured it. Frames that are sent
    again and again are split, and it ends a connection that has 10,000 of them (`ngx_quic_alloc_frame`).
    """

    name = "nginx-1.26"
    package = "nginx@trixie"
    quic_congestion_controls = ("reno",)
    most_quic_frames = 10_000
    executable = "/opt/trixie/usr/sbin/nginx"
    modules = "/opt/trixie/usr/lib/nginx/modules"
    adjustments = tuple(
        replace(
            adjustment,
            program="nginx-1.26",
            value="reno" if "QUIC" in adjustment.setting else adjustment.value,
        )
        for adjustment in Nginx.adjustments
    )


class NginxProxy(ReverseProxy):
    """nginx, one process, passing responses on as they come."""

    name = "nginx"
    package = "nginx"
    protocols = HTTP
    upstream_protocols = frozenset({Protocol.H1, Protocol.H2})
    offers_several = True
    has_several_addresses = True
    passes_websockets = frozenset({Protocol.H1})
    quic_congestion_controls = ("cubic",)
    knobs = (
        *_KNOBS,
        *nginx_application.CONTENT_KNOBS,
        Knob(
            "proxy_buffering",
            "off",
            "whether nginx waits for whole buffers before it passes a response on",
            ("on", "off"),
        ),
        Knob("proxy_buffer_size", "16k", "how much of a response is read at once"),
    )
    adjustments = (
        *_ADJUSTMENTS,
        *nginx_application.CONTENT_ADJUSTMENTS,
        Adjustment("nginx", "proxy_buffering", "off", "bytes are passed on as they come"),
        Adjustment(
            "nginx", "proxy_cache", "off, as by default", "every request reaches the server"
        ),
        Adjustment("nginx", "proxy_next_upstream", "off", "no request is tried twice"),
        Adjustment(
            "nginx",
            "proxy_connect_timeout, proxy_read_timeout, proxy_send_timeout",
            "600s",
            "the run's limit decides when to give up, not the proxy",
        ),
    )

    @override
    def forward(self, listener: Listener, origin: Origin, host: Host, capture: Capture) -> Started:
        values = {knob.name: self.knob(knob.name, host) for knob in self.knobs}
        content = nginx_application.content(values) if listener.application else ()
        directives = (
            *_listening(listener, values),
            *_forwarding(origin, values, listener.application),
            *content,
        )
        return _started(listener, _Directives(directives))


def files_on_socket(namespace: str) -> tuple[Started, str]:
    """An nginx that serves the bodies over cleartext HTTP/1.1 on a Unix socket, and where that is.

    For servers that have no file handler of their own. Hosts share the directory of sockets.
    """
    socket = f"/run/{namespace}-files.sock"
    directives = _Directives((f"listen unix:{socket};", "root /lab/www;"))
    return _process(namespace, f"{namespace}-files", (), directives), socket


def _listening(listener: Listener, values: dict[str, str]) -> list[str]:
    """Where to listen, and how to send what is asked for there."""
    http2 = "on" if Protocol.H2 in listener.protocols else "off"
    lines = [f"http2 {http2};", f"http2_chunk_size {values['http2_chunk_size']};"]
    if not listener.tls:
        return [*lines, *_listen(listener, "80")]
    if Protocol.H3 in listener.protocols:
        lines += [
            *_listen(listener, f"{listener.quic_port} quic"),
            "http3 on;",
            f"http3_stream_buffer_size {values['http3_stream_buffer_size']};",
            f"quic_gso {values['quic_gso']};",
            *(("quic_retry on;",) if values["retry"] == "on" else ()),
        ]
    if listener.protocols - {Protocol.H3}:
        lines += _listen(listener, "443 ssl")
    if listener.revisited:
        lines.append("keepalive_timeout 60;")
    if values["ktls"] == "on":
        lines += ["ssl_conf_command Options KTLS;"]
    if (group := values[KEY_EXCHANGE]) != ANY:
        lines.append(f"ssl_ecdh_curve {openssl_group(group)};")
    return [
        *lines,
        f"ssl_protocols TLSv{values['tls']};",
        f"ssl_buffer_size {values['ssl_buffer_size']};",
        "ssl_session_tickets off;",
        f"ssl_certificate {CERTIFICATE_FILE};",
        f"ssl_certificate_key {KEY_FILE};",
    ]


def _listen(listener: Listener, port: str) -> list[str]:
    """A port with its options, at every address."""
    return [f"listen {address.in_url}:{port};" for address in listener.every_address]


def _forwarding(
    origin: Origin, values: dict[str, str], application: Application | None
) -> list[str]:
    """How to ask the origin."""
    scheme = "https" if origin.tls else "http"
    version = "2" if origin.protocol is Protocol.H2 else "1.1"
    lines = [
        f"location / {{ proxy_pass {scheme}://{origin.socket_address}; }}",
        f"proxy_http_version {version};",
        "proxy_set_header Host $host;",
        *nginx_application.connection(application),
        f"proxy_buffering {values['proxy_buffering']};",
        f"proxy_buffer_size {values['proxy_buffer_size']};",
        f"proxy_buffers 8 {values['proxy_buffer_size']};",
        "proxy_max_temp_file_size 0;",
        "proxy_next_upstream off;",
        "proxy_connect_timeout 600s;",
        "proxy_read_timeout 600s;",
        "proxy_send_timeout 600s;",
    ]
    return [*lines, *_VERIFICATION] if origin.tls else lines


def _started(listener: Listener, directives: _Directives, executable: str = "nginx") -> Started:
    place = listener.namespace
    return _process(place, place, served_on(listener), directives, executable)


def _process(
    namespace: str,
    instance: str,
    listens: tuple[str, ...],
    directives: _Directives,
    executable: str = "nginx",
) -> Started:
    """One nginx; hosts share the file system, so that its files carry the instance's name."""
    file = f"/run/nginx-{instance}.conf"
    text = _CONFIGURATION.format(
        instance=instance,
        name=SERVER_NAME,
        main=_lines(0, directives.main),
        http=_lines(2, directives.http),
        server=_lines(4, directives.server),
    )
    argv = (executable, "-p", "/run", "-e", "stderr", "-c", file)
    program = Program(f"{instance}-nginx", namespace, argv, service=True, listens=listens)
    return Started((program,), {file: text})


def _lines(indentation: int, directives: tuple[str, ...]) -> str:
    return "".join(f"{' ' * indentation}{directive}\n" for directive in directives)
