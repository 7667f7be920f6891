"""An endpoint of aioquic that follows the interop runner's contract; it runs inside a lab."""

import asyncio
import os
import sys
from collections import deque
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aioquic.asyncio import QuicConnectionProtocol, connect, serve  # type: ignore
from aioquic.h3.connection import H3Connection  # type: ignore
from aioquic.h3.events import DataReceived, HeadersReceived  # type: ignore
from aioquic.quic.configuration import QuicConfiguration  # type: ignore
from aioquic.quic.events import ProtocolNegotiated, StreamDataReceived  # type: ignore
from aioquic.quic.logger import QuicFileLogger  # type: ignore
from aioquic.quic.packet import QuicProtocolVersion  # type: ignore
from aioquic.tls import CipherSuite  # type: ignore

TESTCASE, ALPN = os.environ["TESTCASE"], os.environ["ALPN"]
WWW, DOWNLOADS = Path("/www"), Path("/downloads")
UNSUPPORTED = 127
SERVED = {
    "handshake",
    "transfer",
    "chacha20",
    "retry",
    "resumption",
    "zerortt",
    "http3",
    "multiconnect",
    "v2",
}
FETCHED = {*SERVED, "keyupdate"}
MOST_STREAMS = 100
"""So many requests are under way at a time: of more, aioquic sends what it must wait with by turns."""


def configuration(*, is_client: bool) -> Any:
    """What both sides have in common."""
    result = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=[ALPN],
        max_datagram_size=1200,
        quic_logger=QuicFileLogger(os.environ["QLOGDIR"]),
        secrets_log_file=Path(os.environ["SSLKEYLOGFILE"]).open("a", encoding="ascii"),  # noqa: SIM115
        idle_timeout=120,
    )
    if TESTCASE == "v2":
        result.original_version = QuicProtocolVersion.VERSION_1
        result.supported_versions = [QuicProtocolVersion.VERSION_2, QuicProtocolVersion.VERSION_1]
    return result


class ServingProtocol(QuicConnectionProtocol):  # type: ignore
    """Answers requests with the files of a directory."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._http: Any = None
        self._requests: dict[int, bytes] = {}

    def quic_event_received(self, event: Any) -> None:
        """Take a request, or a part of it."""
        if isinstance(event, ProtocolNegotiated) and event.alpn_protocol == "h3":
            self._http = H3Connection(self._quic)
        if self._http is not None:
            for part in self._http.handle_event(event):
                if isinstance(part, HeadersReceived):
                    self._answer_http3(part.stream_id, dict(part.headers)[b":path"].decode())
        elif isinstance(event, StreamDataReceived):
            request = self._requests.pop(event.stream_id, b"") + event.data
            if event.end_stream:
                path = request.split()[1].decode()
                self._quic.send_stream_data(event.stream_id, content(path) or b"", end_stream=True)
            else:
                self._requests[event.stream_id] = request
        self.transmit()

    def _answer_http3(self, stream: int, path: str) -> None:
        body = content(path)
        status = b"404" if body is None else b"200"
        self._http.send_headers(stream, [(b":status", status)], end_stream=not body)
        if body:
            self._http.send_data(stream, body, end_stream=True)


def content(path: str) -> bytes | None:
    """A file that is served."""
    file = WWW / Path(path).name
    return file.read_bytes() if file.is_file() else None


class FetchingProtocol(QuicConnectionProtocol):  # type: ignore
    """Fetches files."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._http = H3Connection(self._quic) if ALPN == "h3" else None
        self._bodies: dict[int, list[bytes]] = {}
        self._ends: dict[int, asyncio.Future[None]] = {}

    async def fetch(self, urls: list[str]) -> None:
        """Fetch URLs, some of them at a time, into files."""
        waiting = deque(urls)

        async def one_by_one() -> None:
            while waiting:
                await self._fetch(waiting.popleft())

        await asyncio.gather(*(one_by_one() for _ in range(min(len(urls), MOST_STREAMS))))

    async def _fetch(self, url: str) -> None:
        place = urlsplit(url)
        stream = self._quic.get_next_available_stream_id()
        self._bodies[stream], self._ends[stream] = [], asyncio.get_running_loop().create_future()
        if self._http is None:
            self._quic.send_stream_data(stream, f"GET {place.path}\r\n".encode(), end_stream=True)
        else:
            fields = {
                ":method": "GET",
                ":scheme": "https",
                ":authority": place.netloc,
                ":path": place.path,
            }
            headers = [(name.encode(), value.encode()) for name, value in fields.items()]
            self._http.send_headers(stream, headers, end_stream=True)
        self.transmit()
        await self._ends[stream]
        (DOWNLOADS / Path(place.path).name).write_bytes(b"".join(self._bodies.pop(stream)))

    def quic_event_received(self, event: Any) -> None:
        """Take what came of a file."""
        parts = [event] if self._http is None else self._http.handle_event(event)
        for part in parts:
            if isinstance(part, StreamDataReceived | DataReceived | HeadersReceived):
                stream = part.stream_id
                if stream not in self._ends:
                    continue
                if not isinstance(part, HeadersReceived):
                    self._bodies[stream].append(part.data)
                ended = part.end_stream if self._http is None else part.stream_ended
                if ended and not self._ends[stream].done():
                    self._ends[stream].set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let nobody wait any longer."""
        for end in self._ends.values():
            if not end.done():
                end.set_exception(ConnectionError("the connection is lost"))
        super().connection_lost(exc)


async def run_server() -> None:
    """Serve until the program is ended."""
    options = configuration(is_client=False)
    options.load_cert_chain("/certs/cert.pem", "/certs/priv.key")
    tickets: dict[bytes, Any] = {}
    await serve(
        "::" if os.environ["SERVER6"] else "0.0.0.0",
        443,
        configuration=options,
        create_protocol=ServingProtocol,
        session_ticket_fetcher=tickets.pop if TESTCASE != "resumption" else tickets.get,
        session_ticket_handler=lambda ticket: tickets.__setitem__(ticket.ticket, ticket),
        retry=TESTCASE == "retry",
    )
    await asyncio.Future()


async def fetch(urls: list[str], options: Any, **more: Any) -> None:
    """Fetch URLs over a connection of their own."""
    host = urlsplit(urls[0]).hostname
    async with connect(
        host, 443, configuration=options, create_protocol=FetchingProtocol, **more
    ) as client:
        if TESTCASE == "keyupdate":
            await client.ping()
            client.request_key_update()
        await client.fetch(urls)


async def run_client() -> None:
    """Fetch what is asked for, over as many connections as the test case has."""
    urls = os.environ["REQUESTS"].split()
    options = configuration(is_client=True)
    options.load_verify_locations("/certs/ca.pem")
    if TESTCASE == "chacha20":
        options.cipher_suites = [CipherSuite.CHACHA20_POLY1305_SHA256]
    if TESTCASE == "multiconnect":
        for url in urls:
            await fetch([url], options)
    elif TESTCASE in ("resumption", "zerortt"):
        tickets: list[Any] = []
        await fetch(urls[:1], options, session_ticket_handler=tickets.append)
        options.session_ticket = tickets[0]
        await fetch(urls[1:], options, wait_connected=TESTCASE != "zerortt")
    else:
        await fetch(urls, options)


def main() -> int:
    """Play the role that the environment says."""
    is_server = os.environ["ROLE"] == "server"
    if TESTCASE not in (SERVED if is_server else FETCHED):
        return UNSUPPORTED
    asyncio.run(run_server() if is_server else run_client())
    return 0


if __name__ == "__main__":
    sys.exit(main())
