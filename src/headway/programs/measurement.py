"""Measurements of clients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

# Commands that start a lab and measure nothing need no columns, which take a moment to load.
if TYPE_CHECKING:
    from headway.columns import CallMetrics, PageMetrics


@dataclass(frozen=True)
class BulkFlow:
    """A bulk flow as its receiver saw it.

    Attributes:
        start_s: when its client began to open its connection, seconds from the client's start.
        interval_s: length of an interval; the first begins with the flow.
        bytes: that the receiving program got in each interval.
    """

    start_s: float
    interval_s: float
    bytes: tuple[int, ...]


@dataclass(frozen=True)
class Tried:
    """An address to which a client began a connection.

    Attributes:
        family: of the address.
        at_s: when, from the client's start.
    """

    family: str
    at_s: float


@dataclass(frozen=True)
class QuicRace:
    """What came of a connection of QUIC beside one of TCP.

    Attributes:
        lost: whether TCP carried the response.
        wait_s: how long TCP had waited for QUIC, if it did; else 0.
    """

    lost: bool
    wait_s: float


@dataclass(frozen=True)
class Visit:
    """How a browser loaded a page; seconds from navigation start unless said otherwise.

    Attributes:
        origin_s: navigation start by the wall clock.
        connect_s: the connection for the document is begun.
        awaited: of every request that a server answered, when it was sent and when its last byte came.
    """

    origin_s: float
    connect_s: float
    awaited: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class HeardStream:
    """A response that an application made over time, as its client heard it.

    Attributes:
        asked_s: when it was to be asked for.
        messages: of each message, in their order, when it was made and when all of it had come.
        ups_s: of each that answers one of the client's, how long that took to the server.
    """

    asked_s: float
    messages: tuple[tuple[float, float], ...]
    ups_s: tuple[float, ...] = ()


@dataclass(frozen=True)
class PlayedSegment:
    """A segment of a video that was fetched; moments are seconds from the session's start.

    Attributes:
        number: in the video, from 0.
        rung: its place in the ladder, from 0.
        bytes: that came.
        asked_s: when the player asked for it.
        first_byte_s: when the response began; None if the player does not tell.
        last_byte_s: when it ended.
        buffer_s: what was buffered when it was asked for.
        believed_mbit: the throughput that the player reckoned with when it chose the rung; None without any.
        chunks_s: of live video, when each of its chunks had come.
        left_s: of live video, what was buffered when all of it had come.
    """

    number: int
    rung: int
    bytes: int
    asked_s: float
    first_byte_s: float | None
    last_byte_s: float
    buffer_s: float
    believed_mbit: float | None = None
    chunks_s: tuple[float, ...] = ()
    left_s: float | None = None

    @property
    def mbit(self) -> float:
        """Its bits over the time from its request to its last byte, Mbit/s."""
        return 8e-6 * self.bytes / (self.last_byte_s - self.asked_s)


@dataclass(frozen=True)
class PlayedStall:
    """The picture stood still.

    Attributes:
        at_s: since when, seconds from the session's start.
        lasted_s: for how long.
    """

    at_s: float
    lasted_s: float


@dataclass(frozen=True)
class PlayedPace:
    """From a moment on, live video was played at a rate.

    Attributes:
        at_s: since when, seconds from the session's start.
        latency_s: the live latency then.
        rate: of playback; 0 while the picture stood still.
    """

    at_s: float
    latency_s: float
    rate: float


@dataclass(frozen=True)
class PlayedVideo:
    """A video as its player played it; moments are seconds from the session's start.

    Attributes:
        ladder_mbit: rates of the qualities, rising, Mbit/s.
        lengths_s: what each of its segments plays.
        start_s: when the picture appeared; None if it did not.
        end_s: when the video had been played, or the viewer left.
        played_s: what was played.
        segments: those that were fetched, in the order in which they came.
        stalls: how often the picture stood still after it had appeared.
        paces: of live video, changes of the rate of playback, from when the picture appeared on.
        source_s: of live video, when its source began with the first segment.
    """

    ladder_mbit: tuple[float, ...]
    lengths_s: tuple[float, ...]
    start_s: float | None
    end_s: float
    played_s: float
    segments: tuple[PlayedSegment, ...]
    stalls: tuple[PlayedStall, ...]
    paces: tuple[PlayedPace, ...] = ()
    source_s: float | None = None

    @property
    def duration_s(self) -> float:
        """Of the whole video."""
        return math.fsum(self.lengths_s)

    @property
    def stalled_s(self) -> float:
        """How long the picture stood still in all."""
        return math.fsum(stall.lasted_s for stall in self.stalls)


@dataclass(frozen=True)
class DigestedBody:
    """A body that a client digested itself.

    Attributes:
        asked_bytes: size of the body that it asked for.
        bytes: that came.
        sha256: of these, in hexadecimal.
    """

    asked_bytes: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Measurement:
    """What a client measured; seconds from when it began.

    Attributes:
        error: why the workload failed; None if it did not.
        connected: of a connection that failed, whether its handshakes were ever complete, that of TLS, too; None if
            none did, or the client does not tell.
        began_unix_s: of a session in a browser, when it began by the wall clock; then `began_s` says nothing.
        began_s: from the program's start; what it did before, as getting a ticket for 0-RTT, does not count.
        spoken: the version of HTTP that the first response came by, of a client that was told none.
        race: of a client, no browser, that tried QUIC beside TCP.
        tried: connections that it began, of a client that chooses between families.
        won: the family over which the first response came; None of a client that does not choose.
        dns_s: the server's address is known, from a resolver; None if the client was told it, or does not tell.
        connect_s: a transport connection is there; for QUIC the handshake is complete.
        tls_s: the TLS handshake is complete.
        ttfb_s: the first byte of the (first) response came.
        total_s: the last byte of the last response came.
        bytes: received bytes of bodies, of all responses together.
        elsewhere_bytes: of these, those of hosts of a page that have servers of their own.
        content_sent_bytes: of an upload, what the client had sent when the response was complete; None if it does not tell.
        each_s: for every request, in their order, when its last byte came.
        latencies_s: of a series of requests, from when each was to be made to its last byte; of messages, from when
            each was made to the last byte of its answer.
        trees_s: of trees of calls, from when the first was to be made to the last byte of the last.
        streams: the responses that an application made over time.
        unanswered_share: of messages with a deadline, the share that had no answer by then; None without one.
        video: the video that was played.
        flows: the bulk flows, in their order; their times are from the program's start.
        page: what a browser tells of a page.
        visit: how it loaded it.
        call: what a call's receiver tells of its datagrams.
        bodies: those that the client digested, in the order of its requests.
    """

    error: str | None = None
    connected: bool | None = None
    began_unix_s: float | None = None
    began_s: float = 0
    spoken: str | None = None
    race: QuicRace | None = None
    tried: tuple[Tried, ...] = ()
    won: str | None = None
    dns_s: float | None = None
    connect_s: float | None = None
    tls_s: float | None = None
    ttfb_s: float | None = None
    total_s: float | None = None
    bytes: int | None = None
    elsewhere_bytes: int = 0
    content_sent_bytes: int | None = None
    each_s: tuple[float, ...] = ()
    latencies_s: tuple[float, ...] = ()
    trees_s: tuple[float, ...] = ()
    streams: tuple[HeardStream, ...] = ()
    unanswered_share: float | None = None
    video: PlayedVideo | None = None
    flows: tuple[BulkFlow, ...] = ()
    page: PageMetrics | None = None
    visit: Visit | None = None
    call: CallMetrics | None = None
    bodies: tuple[DigestedBody, ...] = ()
