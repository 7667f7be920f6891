"""An HTTP/3 client on aioquic: requests all its URLs at once, on one connection.

It prints, as one JSON object, when each answer began and ended. On SIGUSR1 it carries on from
the address that the host has by then (RFC 9000, section 9): with a new socket and another
connection id; and again, from another port, unless the server soon takes the new path for valid.
Sockets are connected, as browsers' are, so that nothing arrives or leaves on the old address.

Run inside a lab as ``python3 -m headway.aioquic.client``; aioquic is a package of the lab's.
"""

import argparse
import contextlib
import hashlib
import json
import math
import os
import select
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection  # type: ignore
from aioquic.h3.events import DataReceived, HeadersReceived  # type: ignore
from aioquic.quic import events  # type: ignore
from aioquic.quic.configuration import QuicConfiguration  # type: ignore
from aioquic.quic.connection import QuicConnection  # type: ignore
from aioquic.quic.logger import QuicFileLogger  # type: ignore

from headway.aioquic.acks import forget_old_gaps
from headway.aioquic.releases import say_release
from headway.aioquic.sockets import datagram_socket

# Flow control is not to limit a transfer: these windows exceed the bandwidth-delay product of
# every path that a study is likely to have, and are open from the start.
_STREAM_WINDOW = 16 << 20
_CONNECTION_WINDOW = 24 << 20
_LARGEST_DATAGRAM = 65536
_LONGEST_ACK_DELAY_S = 0.001
"""What aioquic waits, at most, before it acknowledges a packet."""
_PATIENCE_S = 3.0
"""How long a path may take to become valid: three probe time-outs of a path whose round-trip time
is not known (RFC 9000, section 8.2.4; RFC 9002, section 6.2.2)."""
_PROBE_BYTES = 4800
"""So much may come on a path before it is valid, as PATH_CHALLENGE and PATH_RESPONSE frames in
packets of 1200 bytes."""


@dataclass
class Request:
    """A request and its answer; times are seconds from the client's start."""

    url: str
    status: int | None = None
    bytes: int = 0
    sha256: str | None = None
    ttfb_s: float | None = None
    total_s: float | None = None
    error: str | None = None

    @property
    def pending(self) -> bool:
        """Whether the answer is yet to come."""
        return self.total_s is None and self.error is None


@dataclass
class RequestsReport:
    """What the client prints; ``migrated_s`` is when the server's first packet came on the new path."""

    requests: list[Request]
    handshake_s: float | None = None
    migrated_s: float | None = None
    error: str | None = None

    @property
    def pending(self) -> bool:
        """Whether anything is yet to come."""
        return self.error is None and any(request.pending for request in self.requests)


@dataclass
class ClientPath:
    """A way to the server: a socket, and what came through it.

    Attributes:
        silent_until: before that time nothing is sent.
        give_up_at: when another path is to be tried; never once this one is seen to be valid.
    """

    socket: socket.socket
    silent_until: float = 0
    give_up_at: float = math.inf
    _received_bytes: int = 0

    def send(self, datagram: bytes) -> None:
        """Send a datagram; it is lost if the host's address is gone."""
        with contextlib.suppress(OSError):
            self.socket.send(datagram)

    def receive(self) -> bytes | None:
        """The datagram that came; None if it was the news that there is no way to the server."""
        try:
            datagram = self.socket.recv(_LARGEST_DATAGRAM)
        except OSError:
            return None
        self._received_bytes += len(datagram)
        if self._received_bytes > _PROBE_BYTES:
            self.give_up_at = math.inf
        return datagram


@dataclass
class ClientConnection:
    """One connection to a server, and the requests on it."""

    server: tuple[str, int]
    configuration: Any
    report: RequestsReport
    sinks: list[BinaryIO]
    content: bytes | None = None
    digests: list[Any] = field(default_factory=list)
    _began_ns: int = field(default_factory=time.monotonic_ns)
    _streams: dict[int, int] = field(default_factory=dict)
    _migrated: bool = False

    def __post_init__(self) -> None:
        self._quic = QuicConnection(configuration=self.configuration)
        self._http = H3Connection(self._quic)
        self._path = ClientPath(self._open_socket())
        self._signalled, self._wake = socket.socketpair()
        self._wake.setblocking(False)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno())

    def carry_out(self) -> None:
        """Connect, send the requests, and receive until the last answer's end."""
        self._quic.connect(self.server, now=time.monotonic())
        self._send()
        while self.report.pending:
            self._wait()
            self._quic.handle_timer(now=time.monotonic())
            self._handle_events()
            if time.monotonic() >= self._path.silent_until:
                self._send()

    def close(self) -> None:
        """Tell the server that all is done, and complete the qlog."""
        self._quic.close(error_code=ErrorCode.H3_NO_ERROR)
        self._send()
        if (closed := self._quic.get_timer()) is not None:
            self._quic.handle_timer(now=closed)

    def _wait(self) -> None:
        """Until something comes in or is due."""
        now, silent_until = time.monotonic(), self._path.silent_until
        due = silent_until if now < silent_until else self._quic.get_timer()
        wait_s = max(0.0, min(due, self._path.give_up_at) - now)
        ready = select.select([self._path.socket, self._signalled], [], [], wait_s)[0]
        if self._path.socket in ready:
            self._receive()
        elif self._signalled in ready:
            self._signalled.recv(1)
            self._migrate()
        elif time.monotonic() >= self._path.give_up_at:
            self._migrate()

    def _migrate(self) -> None:
        self._path.socket.close()
        now = time.monotonic()
        self._path = ClientPath(
            self._open_socket(),
            # What comes from there first is to acknowledge what has come, for nginx drops its
            # PATH_CHALLENGE if its congestion window is full.
            silent_until=now + _LONGEST_ACK_DELAY_S,
            give_up_at=now + _PATIENCE_S,
        )
        self._migrated = True
        self._quic.change_connection_id()
        self._quic.send_ping(0)

    def _open_socket(self) -> socket.socket:
        opened = datagram_socket(self.server[0])
        opened.connect(self.server)
        return opened

    def _send(self) -> None:
        forget_old_gaps(self._quic)
        for datagram, _ in self._quic.datagrams_to_send(now=time.monotonic()):
            self._path.send(datagram)

    def _receive(self) -> None:
        datagram = self._path.receive()
        if datagram is None:
            return
        if self._migrated and self.report.migrated_s is None:
            self.report.migrated_s = self._elapsed()
        self._quic.receive_datagram(datagram, self.server, now=time.monotonic())

    def _handle_events(self) -> None:
        while (event := self._quic.next_event()) is not None:
            if isinstance(event, events.HandshakeCompleted):
                self.report.handshake_s = self._elapsed()
                self._send_requests()
            elif isinstance(event, events.ConnectionTerminated):
                error = event.reason_phrase or f"closed with code {event.error_code:#x}"
                when = " after the address changed" if self._migrated else ""
                self.report.error = f"{error}{when}"
            elif isinstance(event, events.StreamReset) and event.stream_id in self._streams:
                request = self.report.requests[self._streams[event.stream_id]]
                request.error = f"stream reset with code {event.error_code:#x}"
            for answer in self._http.handle_event(event):
                self._handle_answer(answer)

    def _send_requests(self) -> None:
        for number, request in enumerate(self.report.requests):
            url = urlsplit(request.url)
            stream = self._quic.get_next_available_stream_id()
            self._streams[stream] = number
            target = f"{url.path}?{url.query}" if url.query else url.path
            fields = {
                "method": "GET" if self.content is None else "POST",
                "scheme": url.scheme,
                "authority": url.netloc,
                "path": target,
            }
            headers = [(f":{name}".encode(), value.encode()) for name, value in fields.items()]
            if self.content is None:
                self._http.send_headers(stream, headers, end_stream=True)
                continue
            headers.append((b"content-length", str(len(self.content)).encode()))
            self._http.send_headers(stream, headers)
            self._http.send_data(stream, self.content, end_stream=True)

    def _handle_answer(self, event: Any) -> None:
        if not isinstance(event, HeadersReceived | DataReceived):
            return
        number = self._streams[event.stream_id]
        request = self.report.requests[number]
        if isinstance(event, DataReceived):
            request.bytes += len(event.data)
            if self.sinks:
                self.sinks[number].write(event.data)
            if self.digests:
                self.digests[number].update(event.data)
        elif request.status is None:
            request.status = int(dict(event.headers)[b":status"])
            request.ttfb_s = self._elapsed()
        if event.stream_ended:
            request.total_s = self._elapsed()
            if self.digests:
                request.sha256 = self.digests[number].hexdigest()

    def _elapsed(self) -> float:
        return (time.monotonic_ns() - self._began_ns) / 1e9


def _configuration(options: argparse.Namespace, stack: contextlib.ExitStack) -> Any:
    if options.qlog:
        os.makedirs(options.qlog, exist_ok=True)
    return QuicConfiguration(
        alpn_protocols=H3_ALPN,
        congestion_control_algorithm=options.congestion_control,
        idle_timeout=options.idle_timeout,
        max_data=_CONNECTION_WINDOW,
        max_stream_data=_STREAM_WINDOW,
        quic_logger=QuicFileLogger(options.qlog) if options.qlog else None,
        secrets_log_file=stack.enter_context(open(options.secrets, "a")),
        server_name=urlsplit(options.urls[0]).hostname,
        cafile=os.environ["SSL_CERT_FILE"],
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fetch bodies by HTTP/3 on one connection.")
    parser.add_argument("--address", required=True, help="the server's address")
    parser.add_argument("--port", type=int, default=443)
    parser.add_argument("--congestion-control", default="reno", choices=("reno", "cubic"))
    parser.add_argument("--idle-timeout", type=float, default=30, help="seconds")
    parser.add_argument("--secrets", default=os.devnull, help="file for the TLS key log")
    parser.add_argument("--qlog", help="directory for qlog")
    parser.add_argument("--digest", action="store_true", help="report the SHA-256 of bodies")
    parser.add_argument("--body", action="append", default=[], help="file for a body, in order")
    parser.add_argument(
        "--upload", type=Path, help="file whose content each request sends, by POST"
    )
    parser.add_argument("urls", nargs="+")
    return parser.parse_args()


def main() -> int:
    """Carry out the requests and print the report; 0 if all were answered."""
    options = _options()
    say_release()
    with contextlib.ExitStack() as stack:
        report = RequestsReport([Request(url) for url in options.urls])
        for file in options.body:
            os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
        sinks: list[BinaryIO] = [stack.enter_context(open(file, "wb")) for file in options.body]
        server = (options.address, options.port)
        content = options.upload.read_bytes() if options.upload else None
        digests = [hashlib.sha256() for _ in options.urls] if options.digest else []
        connection = ClientConnection(
            server, _configuration(options, stack), report, sinks, content, digests
        )
        connection.carry_out()
        connection.close()
    print(json.dumps(asdict(report)))
    return 1 if report.error or any(request.error for request in report.requests) else 0


if __name__ == "__main__":
    sys.exit(main())
