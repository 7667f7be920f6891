"""Packets captured at one end of a way, found again at the other."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from headway.lab.pcapng import read_pcapng
from headway.study.path import Way

Packet = tuple[int, bytes]
"""When a frame was seen, in nanoseconds, and the frame."""

_HEADER_BYTES = 14
_IPV4, _IPV6 = b"\x08\x00", b"\x86\xdd"
_LEFT, _RIGHT = 1, 2
"""Last byte of the hardware address of a wire's end nearer to the client, and of the other."""


@dataclass(frozen=True)
class Passage:
    """What became of the packets of one direction that were sent until some time.

    Attributes:
        sent_ns: when each was seen at the sender, in their order.
        arrived_ns: when each was seen at the receiver; None if it was not.
        strangers: packets that arrived until then and had not been seen before.
        until_ns: the time.
    """

    sent_ns: tuple[int, ...]
    arrived_ns: tuple[int | None, ...]
    strangers: int
    until_ns: int

    @property
    def delays_ns(self) -> list[int]:
        """One-way delays of those that arrived."""
        pairs = zip(self.sent_ns, self.arrived_ns, strict=True)
        return [arrived - sent for sent, arrived in pairs if arrived is not None]

    @property
    def missing(self) -> int:
        """How many did not arrive."""
        return self.arrived_ns.count(None)

    @property
    def unfinished(self) -> int:
        """How many of the missing may have been on their way at the end.

        These were sent less than twice the longest delay before: a packet in a queue was sent after
        those that left it last, with a margin.
        """
        latest_ns = self.until_ns - 2 * max(self.delays_ns, default=0)
        pairs = zip(self.sent_ns, self.arrived_ns, strict=True)
        return sum(arrived is None and sent >= latest_ns for sent, arrived in pairs)


def passage(
    left: Path, right: Path, way: Way, until_ns: int, *, translated: bool = False
) -> Passage:
    """The packets that crossed between two hosts in one direction.

    Args:
        left: capture at the host nearer to the client, on its device towards the other.
        right: capture at the other host.
        way: the direction.
        until_ns: packets that were sent later do not count. Captures end a while after it, at times
            of their own.
        translated: whether a NAT gives packets other addresses and ports on the way.
    """
    origin = _LEFT if way is Way.UP else _RIGHT
    captures = (left, right) if way is Way.UP else (right, left)
    sent, arrived = (
        [packet for packet in read_pcapng(file) if _comes_from(packet[1], origin)]
        for file in captures
    )
    return match(sent, arrived, until_ns, _untranslated if translated else _identity)


def match(
    sent: Iterable[Packet],
    arrived: Iterable[Packet],
    until_ns: int,
    identity: Callable[[bytes], bytes] | None = None,
) -> Passage:
    """Find packets again; equal ones are taken to have kept their order."""
    identity = identity or _identity
    sent_ns: list[int] = []
    found_ns: list[int | None] = []
    waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
    strangers = 0
    for at_ns, frame in sent:
        waiting[identity(frame)].append(len(sent_ns))
        sent_ns.append(at_ns)
        found_ns.append(None)
    for at_ns, frame in arrived:
        if places := waiting.get(identity(frame)):
            found_ns[places.popleft()] = at_ns
        else:
            strangers += at_ns <= until_ns
    counted = bisect_right(sent_ns, until_ns)
    return Passage(tuple(sent_ns[:counted]), tuple(found_ns[:counted]), strangers, until_ns)


def _comes_from(frame: bytes, end: int) -> bool:
    return frame[12:14] in (_IPV4, _IPV6) and frame[11] == end


def _identity(frame: bytes) -> bytes:
    """The IP packet without what routers change: hop limit, or time to live and header checksum (RFC 8200, RFC 1812)."""
    packet = frame[_HEADER_BYTES:]
    if frame[12:14] == _IPV6:
        return packet[:7] + packet[8:]
    return packet[:8] + packet[9:10] + packet[12:]


def _untranslated(frame: bytes) -> bytes:
    """A packet of IPv4 without what a NAT changes, too: addresses, ports, or the number of a ping, and checksums."""
    packet = frame[_HEADER_BYTES:]
    header = 4 * (packet[0] & 15)
    own, rest = packet[:8] + packet[9:10], packet[header:]
    changed = _CHANGED.get(packet[9])
    if changed is None or packet[6] & 31 or packet[7]:  # Of later fragments, nothing else changes.
        return own + rest
    for first, end in reversed(changed):
        rest = rest[:first] + rest[end:]
    return own + rest


_CHANGED = {1: ((2, 6),), 6: ((0, 4), (16, 18)), 17: ((0, 4), (6, 8))}
"""Of ICMP, TCP and UDP: where ports, numbers and checksums are."""
