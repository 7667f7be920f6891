"""Head-of-line blocking: what waited behind missing data, from the stream frames that a receiver got."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class StreamFrame(NamedTuple):
    """A QUIC STREAM frame (RFC 9000, section 19.8), and when it came."""

    at_ms: float
    stream: int
    offset: int
    length: int


@dataclass(frozen=True)
class HeldBack:
    """What waited on a connection.

    Attributes:
        stream_bytes: that came behind a gap of their own stream (Sander et al. 2022, section IV-B4).
        connection_bytes: that came while any stream had a gap, and did not fill one: what streams in one
            order, as over TCP, would have held back, as far as gaps of streams tell.
        held_ms: time in which something waited behind a gap of its stream.
    """

    stream_bytes: int = 0
    connection_bytes: int = 0
    held_ms: float = 0.0


@dataclass
class _Arrived:
    """What came of a stream: all up to ``next``, and pieces behind gaps, in order and apart."""

    next: int = 0
    waiting: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> int:
        """Takes bytes; how many of them had not come before."""
        start = max(start, self.next)
        if start >= end:
            return 0
        apart = [pair for pair in self.waiting if pair[1] < start or pair[0] > end]
        touched = [pair for pair in self.waiting if not (pair[1] < start or pair[0] > end)]
        known = sum(max(0, min(last, end) - max(first, start)) for first, last in touched)
        piece = (
            min([start, *(pair[0] for pair in touched)]),
            max([end, *(pair[1] for pair in touched)]),
        )
        self.waiting = sorted([*apart, piece])
        if self.waiting[0][0] == self.next:
            self.next = self.waiting.pop(0)[1]
        return end - start - known


def held_back(frames: Iterable[StreamFrame]) -> HeldBack:
    """What waited on a connection, from its stream frames in the order in which they came."""
    streams: dict[int, _Arrived] = {}
    gaps: set[int] = set()
    stream_bytes = connection_bytes = 0
    held_ms = since_ms = 0.0
    for at_ms, stream, offset, length in frames:
        arrived = streams.setdefault(stream, _Arrived())
        before, had_gap, any_gap = arrived.next, stream in gaps, bool(gaps)
        new = arrived.add(offset, offset + length)
        waits = arrived.next == before
        if waits:
            stream_bytes += new
        if waits or (any_gap and not had_gap):
            connection_bytes += new
        gaps = gaps | {stream} if arrived.waiting else gaps - {stream}
        if gaps and not any_gap:
            since_ms = at_ms
        elif any_gap and not gaps:
            held_ms += at_ms - since_ms
    return HeldBack(stream_bytes, connection_bytes, held_ms)
