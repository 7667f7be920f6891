"""A resource of a page load: what was requested, how it was answered, and when.

Times are in milliseconds after navigation start. Bytes are those of the response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from headway.sites.site import Header


class Chunk(NamedTuple):
    """Bytes of a response's content, as sent (with their content coding), and when they came."""

    at_ms: float
    encoded_bytes: int


class RequestPhase(NamedTuple):
    """A phase of a request."""

    start_ms: float
    end_ms: float

    @property
    def length_ms(self) -> float:
        """How long it took."""
        return self.end_ms - self.start_ms


@dataclass(frozen=True)
class Timing:
    """Phases of a request, each None if there was none; a reused connection has no first three.

    Attributes:
        dns: the host name's resolution.
        connect: from the connection's first packet until requests can be sent, TLS included.
        tls: the TLS handshake; with QUIC, the whole handshake.
        send: the request is written.
    """

    dns: RequestPhase | None = None
    connect: RequestPhase | None = None
    tls: RequestPhase | None = None
    send: RequestPhase | None = None


@dataclass(frozen=True)
class Resource:
    """One HTTP request of a page load, with its response; a redirect is a resource of its own.

    Attributes:
        url: without a fragment.
        method: of the request.
        protocol: ALPN identifier that the response came over: ``http/1.1``, ``h2`` or ``h3``; for
            one from the cache, what it came over when it was stored. None if there was no response.
        status: as the server sent it, so 304 for a validated copy; None without a response.
        mime_type: of the content, as the browser treats it.
        initiator_type: what made the browser ask for it: ``parser``, ``script``, ``preload`` or another,
            as the DevTools protocol calls them; empty if it is not told.
        initiator_url: the document, style sheet or script that did; None if it is not told.
        render_blocking: whether it blocks rendering: ``Blocking``, ``NonBlocking`` and others, likewise.
        priority: that the browser requested it with: ``VeryHigh`` to ``VeryLow``.
        connection_id: the browser's number of the connection; None without one.
        remote_address: ``address:port`` of the connection; None without one.
        from_cache: answered without the server, by a cache or a service worker.
        started_ms: when the browser asked for it.
        response_start_ms: when the first byte of the response came.
        ended_ms: when its last byte came, or it failed; None if neither did.
        encoded_bytes: bytes received for it, header fields included.
        body_bytes: bytes received of its content, as sent; 0 for a validated copy.
        error: why it failed, as ``net::ERR_CONNECTION_REFUSED``; None if it did not.
        chunks: when the content came; their bytes add up to ``body_bytes``.
        decoded_bytes: length of the content with its content coding removed.
        timing: phases of the request.
        request_headers: fields of the request that the browser's renderer knows of.
        headers: fields of the response; those of the stored one for a validated copy.
    """

    url: str
    method: str
    protocol: str | None
    status: int | None
    mime_type: str
    priority: str
    connection_id: int | None
    remote_address: str | None
    from_cache: bool
    started_ms: float
    response_start_ms: float | None
    ended_ms: float | None
    encoded_bytes: int
    body_bytes: int
    error: str | None
    chunks: tuple[Chunk, ...] = ()
    decoded_bytes: int = 0
    timing: Timing = Timing()
    request_headers: tuple[Header, ...] = ()
    headers: tuple[Header, ...] = ()
    initiator_type: str = ""
    initiator_url: str | None = None
    render_blocking: str = ""

    @property
    def host(self) -> str:
        """Host name of the URL, without a port."""
        return urlsplit(self.url).hostname or ""

    @property
    def sent_ms(self) -> float:
        """When the request had been written; if that is not told, when the browser asked for it."""
        return self.timing.send.end_ms if self.timing.send else self.started_ms

    @property
    def from_network(self) -> bool:
        """Whether a server answered it: with any status, 304 among them."""
        return self.status is not None and not self.from_cache
