"""HAProxy, a reverse proxy: HTTP/1.1, HTTP/2 and HTTP/3 to clients; as a server, before nginx."""

from __future__ import annotations

from headway.contract.program import Program
from headway.overriding import override
from headway.programs import uploads
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    RETRY,
    SERVER_NAME,
    Adapter,
    Adjustment,
    Knob,
    Listener,
    Origin,
    ReverseProxy,
    Server,
    Started,
    served_on,
)
from headway.programs.keyexchange import ANY, KEY_EXCHANGE, key_exchange, openssl_group
from headway.programs.nginx import files_on_socket
from headway.study.capture import Capture
from headway.study.host import HTTP, Host, Protocol

_CONFIGURATION = """\
global
  nbthread 1
  maxconn 1000
  ssl-default-bind-options ssl-min-ver TLSv1.3 no-tls-tickets
{tuning}

crt-store
  load crt {certificate} key {key} alias {name}

defaults
  mode http
  retries 0
  timeout connect 600s
  timeout client 600s
  timeout server 600s
{defaults}
frontend clients
{binds}
  default_backend origin

backend origin
  server origin {origin}
"""

_KNOBS = (
    key_exchange("takes"),
    Knob("quic_max_window", "64m", "largest congestion window of QUIC; its send buffers, too"),
    Knob(
        "quic_pacing", "on", "whether QUIC spreads its packets over the round trip", ("on", "off")
    ),
    Knob(
        "quic_hystart",
        "off",
        "whether QUIC's CUBIC has HyStart++ (RFC 9406)",
        ("on", "off"),
        controls=("cubic",),
    ),
    RETRY,
    Knob("ssl_max_record", "0", "largest TLS record in bytes; 0: as large as may be"),
    Knob("bufsize", "16384", "bytes of a response that are handled at once"),
    Knob(
        "http_no_delay",
        "off",
        "of streams: whether what there is of a response is sent at once, and not when more has come",
        ("on", "off"),
    ),
)
_ADJUSTMENTS = (
    Adjustment(
        "haproxy",
        "tune.quic.frontend.default-max-window-size",
        "64m",
        "its default of 480k caps QUIC at 480 KiB per round trip: 39 Mbit/s at 100 ms",
    ),
    Adjustment("haproxy", "no-tls-tickets", "set", "every connection pays for a full handshake"),
    Adjustment(
        "haproxy", "timeout", "600s", "the run's limit decides when to give up, not the proxy"
    ),
)


class _Haproxy(Adapter):
    """What HAProxy is in either role."""

    name = "haproxy"
    package = "haproxy"
    protocols = HTTP
    quic_congestion_controls = ("cubic", "reno", "bbr")
    knobs: tuple[Knob, ...] = _KNOBS

    def _process(self, listener: Listener, host: Host, origin: str) -> Started:
        """One HAProxy between a listener and what its server line says of the origin."""
        values = {knob.name: self.knob(knob.name, host) for knob in self.knobs}
        file = f"/run/{listener.namespace}-haproxy.cfg"
        binds = _binds(listener, self.quic_congestion_control(host), values)
        text = _CONFIGURATION.format(
            name=SERVER_NAME,
            certificate=CERTIFICATE_FILE,
            key=KEY_FILE,
            binds="\n".join(f"  bind {bind}" for bind in binds),
            origin=origin,
            defaults="  option http-no-delay\n" if values["http_no_delay"] == "on" else "",
            tuning="\n".join(f"  {line}" for line in _tuning(values)),
        )
        program = Program(
            f"{listener.namespace}-haproxy",
            listener.namespace,
            ("haproxy", "-db", "-q", "-f", file),
            service=True,
            listens=served_on(listener),
        )
        return Started((program,), {file: text})


class Haproxy(_Haproxy, Server):
    """HAProxy before an nginx on the same host, which has the bodies.

    Its QUIC packets have at most 1252 bytes, and smaller ones fill its window to the last byte:
    for 10 MiB at 10 Mbit/s and 20 ms these are half of the packets, and 6 % more bytes are sent
    than by nginx.
    """

    takes_uploads = True
    has_application = True
    takes_websockets = frozenset({Protocol.H1, Protocol.H2})
    adjustments = (
        *_ADJUSTMENTS,
        Adjustment(
            "haproxy",
            "backend",
            "nginx",
            "HAProxy serves no files; they come from nginx on the same host, through a Unix socket",
        ),
        Adjustment(
            "haproxy",
            "backend",
            "headway-server on the same host",
            "of uploads, series of requests and streams only, which it hands on to an application",
        ),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        if listener.application:
            behind = uploads.upstream(listener.namespace, listener.application)
            front = self._process(listener, host, uploads.UPSTREAM)
            return Started(behind.programs + front.programs, front.files)
        files, socket = files_on_socket(listener.namespace)
        front = self._process(listener, host, f"unix@{socket}")
        return Started(files.programs + front.programs, files.files | front.files)


class HaproxyProxy(_Haproxy, ReverseProxy):
    """HAProxy before a server on another host.

    It passes a response's header on together with the beginning of the body, and holds little of
    the body: what it reads from the server follows what it can send to the client.
    """

    upstream_protocols = frozenset({Protocol.H1, Protocol.H2})
    offers_several = True
    passes_websockets = frozenset({Protocol.H1, Protocol.H2})
    knobs = (
        *_KNOBS,
        Knob("h2_receive_buffer", "64m", "receive window of HTTP/2 from the server"),
    )
    adjustments = (
        *_ADJUSTMENTS,
        Adjustment(
            "haproxy",
            "tune.h2.be.rxbuf",
            "64m",
            "its default of 1600k caps HTTP/2 from the server at 1.6 MB per round trip",
        ),
        Adjustment("haproxy", "retries", "0", "no request is tried twice"),
        Adjustment("haproxy", "cache", "off, as by default", "every request reaches the server"),
    )

    @override
    def forward(self, listener: Listener, origin: Origin, host: Host, capture: Capture) -> Started:
        alpn = "h2" if origin.protocol is Protocol.H2 else "http/1.1"
        line = origin.socket_address
        if origin.tls:
            line += (
                f" ssl ssl-min-ver TLSv1.3 no-ssl-reuse verify required ca-file {CA_FILE} sni str({SERVER_NAME})"
                f" verifyhost {SERVER_NAME} alpn {alpn}"
            )
        return self._process(listener, host, line)


def _binds(listener: Listener, quic_congestion_control: str, values: dict[str, str]) -> list[str]:
    place, version = listener.socket_address, listener.address.family.version
    if not listener.tls:
        return [place]
    certificate = f"ssl crt @/{SERVER_NAME}"
    if (group := values[KEY_EXCHANGE]) != ANY:
        certificate += f" curves {openssl_group(group)}"
    binds = []
    if Protocol.H3 in listener.protocols:
        # RFC 9002's NewReno is TCP's Reno with SACK.
        algorithm = {"reno": "newreno"}.get(quic_congestion_control, quic_congestion_control)
        options = f"alpn h3 quic-cc-algo {algorithm}{' quic-force-retry' if values['retry'] == 'on' else ''}"
        binds.append(f"quic{version}@{place} {certificate} {options}")
    names = {Protocol.H2: "h2", Protocol.H1: "http/1.1"}
    alpn = ",".join(name for protocol, name in names.items() if protocol in listener.protocols)
    return [*binds, f"{place} {certificate} alpn {alpn}"] if alpn else binds


def _tuning(values: dict[str, str]) -> list[str]:
    lines = [
        f"tune.bufsize {values['bufsize']}",
        f"tune.ssl.maxrecord {values['ssl_max_record']}",
        f"tune.quic.frontend.default-max-window-size {values['quic_max_window']}",
        f"tune.quic.cc-hystart {values['quic_hystart']}",
    ]
    if values["quic_pacing"] == "off":
        lines.append("tune.quic.disable-tx-pacing")
    if buffer := values.get("h2_receive_buffer"):
        lines.append(f"tune.h2.be.rxbuf {buffer}")
    return lines
