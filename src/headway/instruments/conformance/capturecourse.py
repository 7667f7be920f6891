"""The course of a QUIC sender by its packets, for programs that log nothing: what is in flight at the sender's host.

Packets are opened with the secrets of the client. Losses are those that RFC 9002, section 6.1.1, declares by later packets. A
window is not seen. What stands for it is the most that was in flight in the last round trip, which a sender with enough data fills.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from headway.contract.artifact import read_text
from headway.diagnosis.packet import SeenPacket
from headway.diagnosis.quic_frames import Reader, frames
from headway.diagnosis.quic_keys import PacketKeys, logged_keys
from headway.diagnosis.samples import started_s
from headway.diagnosis.transfer import SampledSegment
from headway.instruments.conformance.course import CourseSource, SenderCourse, Series
from headway.lab.pcapng import read_pcapng
from headway.programs.base import SECRETS_FILE

_LONG_HEADER = 0x80
_IP = (b"\x08\x00", b"\x86\xdd")
_SHORT = "1-RTT"
_PACKET_THRESHOLD = 3
"""RFC 9002, section 6.1.1: kPacketThreshold."""
_NOT_IN_FLIGHT = frozenset({"ACK", "CONNECTION_CLOSE"})
_PORT = 443
_LEAST_ACKED = 20
"""Packets that were acknowledged, if a course is to be known."""


def capture_course(
    run_directory: Path, segment: SampledSegment, captures: Path
) -> SenderCourse | None:
    """The course of a segment's sender by its host's capture; None without one, or without secrets of QUIC."""
    capture, secrets = captures / f"{segment.sender}.pcapng", run_directory / SECRETS_FILE
    if not capture.exists() or not secrets.exists():
        return None
    observer = _Observer(read_text(secrets))
    begin_s = started_s(run_directory)
    for at_ns, frame in read_pcapng(capture):
        if frame[12:14] in _IP:
            packet = SeenPacket(at_ns, frame)
            if packet.is_udp:
                observer.see(at_ns / 1e9 - begin_s, packet.segment)
    return observer.flight.course()


@dataclass
class _Flight:
    """What is in flight, after each packet."""

    sent: dict[int, tuple[float, int]] = field(default_factory=dict)
    in_flight: int = 0
    rtt_s: float = float("nan")
    acknowledged: int = 0
    rows: list[tuple[float, float, float]] = field(default_factory=list)
    losses_s: list[float] = field(default_factory=list)
    marks_s: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def send(self, at_s: float, number: int, size: int) -> None:
        """A packet leaves."""
        self.sent[number] = at_s, size
        self.in_flight += size
        self.sizes.append(size)
        self.rows.append((at_s, self.in_flight, self.rtt_s))

    def acknowledge(self, at_s: float, ranges: Sequence[tuple[int, int]]) -> None:
        """An acknowledgment of ranges of numbers comes, the largest first."""
        new = [n for n in self.sent if any(low <= n <= high for low, high in ranges)]
        if not new:
            return
        largest = ranges[0][1]
        if largest in self.sent:
            self.rtt_s = at_s - self.sent[largest][0]
        for number in new:
            self._take_away(number)
        self.acknowledged += len(new)
        lost = [number for number in self.sent if number <= largest - _PACKET_THRESHOLD]
        for number in lost:
            self._take_away(number)
            self.losses_s.append(at_s)
        self.rows.append((at_s, self.in_flight, self.rtt_s))

    def mark(self, at_s: float, marked: int) -> None:
        """An acknowledgment tells how many packets were marked so far."""
        self.marks_s += [at_s] * (marked - len(self.marks_s))

    def _take_away(self, number: int) -> None:
        self.in_flight -= self.sent.pop(number)[1]

    def course(self) -> SenderCourse | None:
        """The course; None if hardly anything was acknowledged."""
        if self.acknowledged < _LEAST_ACKED:
            return None
        at_s, in_flight, rtt_s = np.array(self.rows).T
        unknown: Series = np.full(len(at_s), np.nan)
        return SenderCourse(
            source=CourseSource.CAPTURE,
            packet_bytes=float(np.median([size for size in self.sizes if size > 600] or [1200])),
            at_s=at_s,
            window_bytes=_most_lately(at_s, in_flight, rtt_s),
            in_flight_bytes=in_flight,
            rtt_s=rtt_s,
            threshold_bytes=unknown,
            pacing_bytes_s=unknown,
            losses_s=np.array(self.losses_s),
            marks_s=np.array(self.marks_s),
        )


def _most_lately(at_s: Series, in_flight: Series, rtt_s: Series) -> Series:
    """The most that was in flight in the last round trip, at each time."""
    most: Series = np.empty(len(at_s))
    candidates: deque[int] = deque()
    for place, now_s in enumerate(at_s.tolist()):
        while candidates and in_flight[candidates[-1]] <= in_flight[place]:
            candidates.pop()
        candidates.append(place)
        oldest_s = now_s - (0.0 if np.isnan(rtt_s[place]) else float(rtt_s[place]))
        while at_s[candidates[0]] < oldest_s:
            candidates.popleft()
        most[place] = in_flight[candidates[0]]
    return most


@dataclass
class _Observer:
    """Opens the packets of a connection in the order in which they pass."""

    secrets: str
    flight: _Flight = field(default_factory=_Flight)
    _lengths: dict[bool, int] = field(default_factory=dict)
    """Of the connection IDs in short headers that the client, or the server, sends."""
    _expected: dict[bool, int] = field(default_factory=dict)
    _keys: dict[bool, tuple[PacketKeys, ...]] = field(default_factory=dict)

    def see(self, at_s: float, segment: bytes) -> None:
        """A datagram of UDP passes."""
        source, destination = int.from_bytes(segment[:2]), int.from_bytes(segment[2:4])
        content = segment[8:]
        if _PORT not in (source, destination) or not content:
            return
        of_client = destination == _PORT
        try:
            if content[0] & _LONG_HEADER:
                self._long_header(content, of_client)
            elif opened := self._opened(content, of_client):
                self._take(at_s, opened[0], opened[1], len(content), of_client)
        except IndexError:
            return

    def _long_header(self, content: bytes, of_client: bool) -> None:
        """Learn how long the connection IDs are that this side chose (RFC 9000, section 17.2)."""
        reader = Reader(content, 5)
        reader.take(reader.take(1)[0])
        self._lengths[not of_client] = len(reader.take(reader.take(1)[0]))

    def _opened(self, content: bytes, of_client: bool) -> tuple[int, bytes] | None:
        if of_client not in self._keys:
            self._keys[of_client] = logged_keys(self.secrets, of_client=of_client).get(_SHORT, ())
        number_at = 1 + self._lengths.get(of_client, 0)
        known = self._keys[of_client]
        for keys in (*known, *(keys.updated for keys in known)):
            if opened := keys.opened(content, number_at, self._expected.get(of_client, 0)):
                # The next packet has most likely the same keys, or those after an update.
                self._keys[of_client] = (keys,)
                self._expected[of_client] = max(self._expected.get(of_client, 0), opened[0] + 1)
                return opened
        return None

    def _take(self, at_s: float, number: int, payload: bytes, size: int, of_client: bool) -> None:
        if not of_client:
            if not _NOT_IN_FLIGHT.issuperset(frames(payload)):
                self.flight.send(at_s, number, size)
        elif ranges := list(acknowledged_ranges(payload)):
            self.flight.acknowledge(at_s, ranges)
            self.flight.mark(at_s, marked_packets(payload))


def _at_acknowledgment(payload: bytes) -> tuple[Reader, bool] | None:
    """A reader behind the type of the ACK frame that a payload begins with, and whether that has counts of ECN."""
    reader = Reader(payload)
    while reader.left:
        kind = reader.integer()
        if kind in (0, 1):
            continue
        return (reader, kind == 3) if kind in (2, 3) else None
    return None


def acknowledged_ranges(payload: bytes) -> Iterator[tuple[int, int]]:
    """The ranges of packet numbers that a payload acknowledges, if it begins with an ACK frame (RFC 9000, section 19.3)."""
    if begun := _at_acknowledgment(payload):
        yield from _ranges(begun[0])


def _ranges(reader: Reader) -> Iterator[tuple[int, int]]:
    high = reader.integer()
    reader.integer()
    count = reader.integer()
    low = high - reader.integer()
    yield low, high
    for _ in range(count):
        high = low - reader.integer() - 2
        low = high - reader.integer()
        yield low, high


def marked_packets(payload: bytes) -> int:
    """How many marked packets came so far, by the ACK frame that a payload begins with; 0 if that does not tell (section 19.3.2)."""
    begun = _at_acknowledgment(payload)
    if begun is None or not begun[1]:
        return 0
    reader = begun[0]
    deque(_ranges(reader), maxlen=0)
    return [reader.integer() for _ in range(3)][-1]
