"""An HTTP/3 server on aioquic: answers requests with the files of a directory.

An answer is handed to aioquic as a whole, which sends those of a connection by turns.

Run inside a lab as ``python3 -m headway.aioquic.server``; aioquic is a package of the lab's.
"""

import argparse
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from aioquic.buffer import Buffer  # type: ignore
from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection  # type: ignore
from aioquic.h3.events import DataReceived, HeadersReceived  # type: ignore
from aioquic.quic import events  # type: ignore
from aioquic.quic.configuration import (  # type: ignore
    SMALLEST_MAX_DATAGRAM_SIZE,
    QuicConfiguration,
)
from aioquic.quic.connection import QuicConnection  # type: ignore
from aioquic.quic.logger import QuicFileLogger  # type: ignore
from aioquic.quic.packet import pull_quic_header  # type: ignore

from headway.aioquic.acks import forget_old_gaps
from headway.aioquic.releases import is_initial, say_release
from headway.aioquic.sockets import datagram_socket

_LARGEST_DATAGRAM = 65536
_OK, _NOT_FOUND, _METHOD_NOT_ALLOWED = 200, 404, 405


@dataclass(eq=False)
class ServerConnection:
    """One client's connection.

    Attributes:
        ids: connection ids that its packets come with.
        ended: whether it is over.
    """

    quic: Any
    root: Path
    ids: set[bytes]
    ended: bool = False
    sinks: bool = False
    _http: Any = None
    _content_bytes: dict[int, int] = field(default_factory=dict)

    def advance(self, now: float) -> None:
        """Handle what time and packets brought."""
        self.quic.handle_timer(now=now)
        while (event := self.quic.next_event()) is not None:
            self._handle(event)

    def _handle(self, event: Any) -> None:
        if isinstance(event, events.ProtocolNegotiated):
            self._http = H3Connection(self.quic)
        elif isinstance(event, events.ConnectionIdIssued):
            self.ids.add(event.connection_id)
        elif isinstance(event, events.ConnectionIdRetired):
            self.ids.discard(event.connection_id)
        elif isinstance(event, events.ConnectionTerminated):
            self.ended = True
        elif self._http is not None:
            for part in self._http.handle_event(event):
                self._handle_part(part)

    def _handle_part(self, part: Any) -> None:
        """Answer a request: one with content that is to be taken, at its end."""
        if isinstance(part, HeadersReceived):
            request = dict(part.headers)
            if not self.sinks or request.get(b":method") != b"POST":
                self._answer(part.stream_id, request)
                return
            self._content_bytes[part.stream_id] = 0
        elif isinstance(part, DataReceived) and part.stream_id in self._content_bytes:
            self._content_bytes[part.stream_id] += len(part.data)
        else:
            return
        if part.stream_ended:
            body = f"{self._content_bytes.pop(part.stream_id)}\n".encode()
            self._send(part.stream_id, _OK, body, has_content=True)

    def _answer(self, stream: int, request: dict[bytes, bytes]) -> None:
        method = request.get(b":method")
        if method is None:
            return  # They are trailers.
        status, body = self._file(request[b":path"].decode())
        if method not in (b"GET", b"HEAD"):
            status, body = _METHOD_NOT_ALLOWED, b""
        self._send(stream, status, body, has_content=method != b"HEAD" and bool(body))

    def _send(self, stream: int, status: int, body: bytes, *, has_content: bool) -> None:
        fields = {":status": status, "content-length": len(body)}
        headers = [(name.encode(), str(value).encode()) for name, value in fields.items()]
        self._http.send_headers(stream, headers, end_stream=not has_content)
        if has_content:
            self._http.send_data(stream, body, end_stream=True)

    def _file(self, target: str) -> tuple[int, bytes]:
        """Status and content of what a request asks for."""
        file = (self.root / unquote(urlsplit(target).path).lstrip("/")).resolve()
        if file.is_relative_to(self.root) and file.is_file():
            return _OK, file.read_bytes()
        return _NOT_FOUND, b""

    def close(self) -> None:
        """End it, and complete its qlog."""
        self.quic.close(error_code=ErrorCode.H3_NO_ERROR)
        self.quic.datagrams_to_send(now=time.monotonic())
        if (closed := self.quic.get_timer()) is not None:
            self.quic.handle_timer(now=closed)


@dataclass
class ConnectionTable:
    """All connections to a socket."""

    socket: socket.socket
    configuration: Any
    root: Path
    sinks: bool
    _connections: list[ServerConnection] = field(default_factory=list)

    def serve(self) -> None:
        """Answer, until the program is told to end."""
        while True:
            touched = self._wait()
            now = time.monotonic()
            for connection in self._connections:
                if connection is touched or connection.quic.get_timer() <= now:
                    connection.advance(now)
                    self._send(connection)
            self._connections = [
                server_connection
                for server_connection in self._connections
                if not server_connection.ended
            ]

    def close(self) -> None:
        """End all connections."""
        for connection in self._connections:
            connection.close()

    def _wait(self) -> ServerConnection | None:
        """Until a datagram comes or something is due: the connection that the datagram is for."""
        due = min(
            (server_connection.quic.get_timer() for server_connection in self._connections),
            default=None,
        )
        wait_s = None if due is None else max(0.0, due - time.monotonic())
        if not select.select([self.socket], [], [], wait_s)[0]:
            return None
        datagram, client = self.socket.recvfrom(_LARGEST_DATAGRAM)
        connection = self._connection(datagram)
        if connection is not None:
            connection.quic.receive_datagram(datagram, client, now=time.monotonic())
        return connection

    def _connection(self, datagram: bytes) -> ServerConnection | None:
        """Whose datagram it is; a new one's, if a client begins to connect with it."""
        id_length = self.configuration.connection_id_length
        try:
            header = pull_quic_header(Buffer(data=datagram), host_cid_length=id_length)
        except ValueError:
            return None
        for connection in self._connections:
            if header.destination_cid in connection.ids:
                return connection
        if not is_initial(header) or len(datagram) < SMALLEST_MAX_DATAGRAM_SIZE:
            return None
        quic = QuicConnection(
            configuration=self.configuration,
            original_destination_connection_id=header.destination_cid,
        )
        ids = {header.destination_cid, quic.host_cid}
        connection = ServerConnection(quic, self.root, ids, sinks=self.sinks)
        self._connections.append(connection)
        return connection

    def _send(self, connection: ServerConnection) -> None:
        forget_old_gaps(connection.quic)
        for datagram, client in connection.quic.datagrams_to_send(now=time.monotonic()):
            self.socket.sendto(datagram, client)


def _configuration(options: argparse.Namespace) -> Any:
    if options.qlog:
        os.makedirs(options.qlog, exist_ok=True)
    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=H3_ALPN,
        congestion_control_algorithm=options.congestion_control,
        idle_timeout=options.idle_timeout,
        quic_logger=QuicFileLogger(options.qlog) if options.qlog else None,
    )
    configuration.load_cert_chain(options.certificate, options.key)
    return configuration


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve the files of a directory by HTTP/3.")
    parser.add_argument("--address", required=True, help="address to listen on")
    parser.add_argument("--port", type=int, default=443)
    parser.add_argument("--certificate", required=True, help="PEM file")
    parser.add_argument("--key", required=True, help="PEM file")
    parser.add_argument("--congestion-control", default="reno", choices=("reno", "cubic"))
    parser.add_argument("--idle-timeout", type=float, default=60, help="seconds")
    parser.add_argument("--qlog", help="directory for qlog")
    parser.add_argument(
        "--sink",
        action="store_true",
        help="take content of POST and answer with the number of its bytes",
    )
    parser.add_argument("root", type=Path)
    return parser.parse_args()


def main() -> None:
    """Serve until SIGTERM comes."""
    options = _options()
    say_release()
    with datagram_socket(options.address) as opened:
        opened.bind((options.address, options.port))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        root = options.root.resolve()
        server = ConnectionTable(opened, _configuration(options), root, options.sink)
        try:
            server.serve()
        finally:
            server.close()


if __name__ == "__main__":
    main()
