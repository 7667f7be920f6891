"""The ideal carrier: when packets would arrive whose frames are sent at a capacity that is granted on demand.

Written from the meaning of the keys of `headway.study.access`, superframe by superframe with whole numbers of
bits, and not from the emulation's code, so that the two can be compared.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from headway.study.access import CapacityOnDemand, CarrierAccess

_S = 10**9


@dataclass
class _Terminal:
    """What a terminal asked for and was granted.

    Attributes:
        demand: how it asks.
        most: bits per second that the carrier has.
        granted: by superframe, the rates and the volumes in bytes that are granted in it.
        rate: bits per second of the latest granted rate.
        credit: granted bytes that no superframe had room for yet.
        outstanding: bytes that were asked for and not granted.
        asked: the latest rate asked for.
    """

    demand: CapacityOnDemand
    most: int
    granted: dict[int, list[tuple[int | None, int]]] = field(default_factory=dict)
    rate: int = 0
    credit: int = 0
    outstanding: int = 0
    asked: int = 0

    def begin(self, number: int, waiting: _Waiting) -> int:
        """Ask, if it is time to, and take what is granted; returns the superframe's bits per second."""
        if number and number % self.demand.every == 0:
            self._ask(number, waiting)
        for rate, volume in self.granted.pop(number, []):
            self.rate = self.rate if rate is None else rate
            self.credit += volume
            self.outstanding -= volume
        steady = min(int(self.demand.constant or 0) + self.rate, self.most)
        span = self.demand.superframe.ns
        volume = min(self.credit, (self.most - steady) * span // (8 * _S))
        self.credit -= volume
        return steady + -(-volume * 8 * _S // span)

    def _ask(self, number: int, waiting: _Waiting) -> None:
        span = self.demand.every * self.demand.superframe.ns
        latency = max(self.demand.latency_superframes * self.demand.superframe.ns, span)
        awaited = sum(
            rate * span // (8 * _S)
            for grants in self.granted.values()
            for rate, _ in grants
            if rate
        )
        new = min(waiting.new_bytes, waiting.bytes)
        old = max(waiting.bytes - new - awaited, 0)
        wanted = -(-new * 8 * _S // span) + -(-old * 8 * _S // latency)
        rate = min(wanted, int(self.demand.rate_based or 0))
        unasked = max(waiting.bytes - self.outstanding - self.credit, 0)
        volume = min(unasked, int(self.demand.volume_based or 0))
        wants_rate = bool(self.demand.rate_based) and bool(rate or self.asked)
        waiting.new_bytes = 0
        if volume or wants_rate:
            self.outstanding += volume
            self.asked = rate
            at = number + self.demand.latency_superframes
            self.granted.setdefault(at, []).append((rate if wants_rate else None, volume))


@dataclass
class _Waiting:
    """What waits, in whole frames, and what of it came since the last request."""

    bytes: int = 0
    new_bytes: int = 0


def _rates(terminal: _Terminal | None, most: int, waiting: _Waiting) -> Iterator[tuple[int, int]]:
    """Beginnings and bits per second of the superframes; of what waits at a beginning the caller keeps account."""
    if terminal is None:
        yield 0, most
        return
    number = 0
    while True:
        begin = number * terminal.demand.superframe.ns
        yield begin, terminal.begin(number, waiting)
        number += 1


@dataclass
class _SentFrame:
    """A frame that is being sent: bits that are left, and the packets that end in it."""

    left: Fraction
    ends: list[int]


def arrivals(
    access: CarrierAccess, rate_bit_s: int, sent: Iterable[tuple[int, int]], until_ns: int
) -> dict[int, int]:
    """When packets arrive by number, in nanoseconds, as far as that is before an end.

    Args:
        access: of the carrier.
        rate_bit_s: the carrier's.
        sent: when packets come to it, in order, and their bytes with the Ethernet header.
        until_ns: the end.
    """
    coming = deque((at, number, size) for number, (at, size) in enumerate(sent))
    queue: deque[list[int]] = deque()
    frame_bytes = int(access.frame)
    waiting = _Waiting()
    demand = access.demand
    terminal = _Terminal(demand, rate_bit_s) if demand else None
    plan = _rates(terminal, rate_bit_s, waiting)
    now, rate = Fraction(0), next(plan)[1]
    sending: _SentFrame | None = None
    new = 0
    result: dict[int, int] = {}
    following = demand.superframe.ns if demand else None
    while now < until_ns and (coming or queue or sending):
        if sending is None and queue and rate:
            sending = _filled(queue, frame_bytes)
        moments = [Fraction(coming[0][0])] if coming else []
        moments += [Fraction(following)] if following is not None else []
        moments += [now + sending.left * _S / rate] if sending and rate else []
        then = min(moments)
        if sending and rate:
            sending.left -= (then - now) * rate / _S
        now = then
        if sending and sending.left <= 0:
            result.update(dict.fromkeys(sending.ends, int(now)))
            sending = None
            if queue and rate:
                sending = _filled(queue, frame_bytes)
        if following is not None and now >= following:
            left = sum(size for _, size in queue)
            waiting.bytes = (-(-left // frame_bytes) + (sending is not None)) * frame_bytes
            waiting.new_bytes += -(-new // frame_bytes) * frame_bytes
            new = 0
            rate = next(plan)[1]
            following += demand.superframe.ns if demand else 0
        while coming and coming[0][0] <= now:
            _, number, size = coming.popleft()
            queue.append([number, size])
            new += size
    return result


def _filled(queue: deque[list[int]], frame_bytes: int) -> _SentFrame:
    """A frame with what waits, which it takes from the queue."""
    room, ends = frame_bytes, []
    while queue and room:
        part = min(queue[0][1], room)
        queue[0][1] -= part
        room -= part
        if not queue[0][1]:
            ends.append(queue.popleft()[0])
    return _SentFrame(Fraction(8 * frame_bytes), ends)


def lost_share(access: CarrierAccess, frame_loss: float, size_bytes: int, count: int) -> float:
    """How many of so many packets at once are lost, of equal sizes: those with a part in any frame that is.

    Packet i takes the bytes from i times its size on, and so the frames in which these lie.
    """
    frame_bytes = int(access.frame)
    spans = (
        ((number + 1) * size_bytes - 1) // frame_bytes - number * size_bytes // frame_bytes + 1
        for number in range(count)
    )
    return math.fsum(1 - (1 - frame_loss) ** span for span in spans) / count
