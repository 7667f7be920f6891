"""The ideal path: when packets would leave and arrive if a path did exactly what it states.

Written from the meaning of a path's fields, not from the emulation's code, so that the two can
be compared. Times are nanoseconds from the start of the workload.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from headway.study.contacts import is_within
from headway.study.loss import RandomLoss
from headway.study.path import Direction, Jitter, Path, Way
from headway.study.queue import FRAME_BYTES
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.units import Duration

NEVER = 2**62
CLOSE_NS = 10_000
"""By how much an emulation may be late; hosts and links take about a microsecond each."""
_MOST = 0.5
_T = TypeVar("_T")


def directions(path: Path, way: Way) -> tuple[Direction, ...]:
    """A path's links in one direction, in the order in which packets meet them."""
    if way is Way.UP:
        return tuple(link.up for link in path.links)
    return tuple(link.down for link in reversed(path.links))


def loses_most(path: Path) -> bool:
    """Whether it may lose every packet of a probe, so that checks of the loss alone have something to judge by."""
    ways = [direction for way in Way for direction in directions(path, way)]
    losses = [loss for way in ways for loss in (way.loss, *(step.loss for step in way.changes))]
    return any(loss is not None and loss.mean >= _MOST for loss in losses)


def planned_rates(direction: Direction, name: str, until_ns: int) -> tuple[tuple[int, int], ...]:
    """Times and rates in bit/s that a direction has.

    Args:
        direction: the direction.
        name: of its stream of random draws, as ``7/link0-down`` with seed 7.
        until_ns: the latest time.
    """
    steps = [(int(change.at), int(change.rate)) for change in direction.changes if change.rate]
    if isinstance(direction.rate, RateSchedule):
        repeat = direction.rate.repeat
        laps = range(until_ns // repeat + 1) if repeat else range(1)
        steps += [
            (lap * (repeat or 0) + step.at, int(step.rate))
            for lap in laps
            for step in direction.rate.steps
        ]
    if isinstance(direction.rate, RandomRate):
        steps += _drawn_rates(direction.rate, name, until_ns)
    return tuple(sorted(step for step in steps if step[0] <= until_ns))


def _drawn_rates(rate: RandomRate, name: str, until_ns: int) -> Iterator[tuple[int, int]]:
    """What `docs/determinism.md` says of drawn rates, worked out apart from what sets them."""
    digest = hashlib.sha256(f"{name}/rate/0".encode()).hexdigest()
    stream = random.Random(int(digest[:16], 16) // 2)
    for at in range(0, until_ns + 1, rate.every):
        yield at, stream.randint(rate.low, rate.high)


@dataclass(frozen=True)
class Stage:
    """One link in one direction.

    Attributes:
        direction: what the link does.
        rtt: of the whole path, which the sizes of queues refer to.
        rates: times and rates in bit/s, the first at 0; empty without a rate, and for a trace.
        origin_ns: when the path's own time begins, which its changes refer to; before that, all
            is as at its beginning.
    """

    direction: Direction
    rtt: Duration
    rates: tuple[tuple[int, int], ...]
    origin_ns: int = NEVER

    @property
    def limit_bytes(self) -> int | None:
        """How much the queue holds; None without a rate, as nothing ever queues then."""
        return self.direction.queue_bytes(self.rtt)

    @property
    def opportunities_ms(self) -> tuple[int, ...]:
        """The trace's delivery opportunities; empty if the link has no trace."""
        rate = self.direction.rate
        return rate.opportunities_ms if isinstance(rate, TraceRate) else ()

    def rate_at(self, at_ns: int) -> int:
        """Bits per second at a time; zero without a rate."""
        index = bisect.bisect_right(self.rates, (at_ns, NEVER)) - 1
        return self.rates[index][1] if self.rates else 0

    def served_by(self, start_ns: int, size_bytes: int) -> int:
        """When a packet is sent whose first bit leaves at a time: at the rate it begins with."""
        return start_ns + size_bytes * 8 * 10**9 // self.rate_at(start_ns)

    def opportunities(self, from_ns: int) -> Iterator[int]:
        """Times of the trace's opportunities from a time on, the trace repeated without end."""
        times = self.opportunities_ms
        period_ms, from_ms = times[-1], -(-from_ns // 1_000_000)
        for lap in itertools.count(max(from_ms // period_ms - 1, 0)):
            first = bisect.bisect_left(times, from_ms - lap * period_ms)
            for ms in itertools.islice(times, first, None):
                yield (lap * period_ms + ms) * 1_000_000

    def departures(self, arrivals: Sequence[int], known: Sequence[int] = ()) -> list[int]:
        """When full-size packets leave the queue, if none finds it full.

        A link that was idle sends the first packet at once: the emulation's token bucket holds
        one full packet.

        Args:
            arrivals: when they reach the queue, in order.
            known: departures of the first of them, if they are known already.
        """
        left = list(known)
        if self.opportunities_ms:
            return self._at_opportunities(arrivals, left)
        if not self.rates:
            return list(arrivals)
        for arrival in arrivals[len(left) :]:
            free = self.served_by(left[-1], FRAME_BYTES) if left else arrival
            left.append(self.opened(max(arrival, free)))
        return left

    def _at_opportunities(self, arrivals: Sequence[int], left: list[int]) -> list[int]:
        for arrival in arrivals[len(left) :]:
            last = left[-1] if left else -1
            times = self.opportunities(max(arrival, last))
            # Several opportunities may share a millisecond; those that are used up are skipped.
            for _ in range(left.count(last) if arrival <= last else 0):
                next(times)
            left.append(next(times))
        return left

    def wait(self, arrival_ns: int) -> int:
        """How long a small packet that comes alone waits: not at all, for an opportunity, or for a contact."""
        if not self.opportunities_ms:
            return self.opened(arrival_ns) - arrival_ns
        return next(self.opportunities(arrival_ns)) - arrival_ns

    def delay_at(self, at_ns: int) -> int:
        """Propagation delay at a time."""
        return int(self._latest("delay", at_ns, self.direction.delay))

    def jitter_at(self, at_ns: int) -> int:
        """Jitter at a time: half the range of a uniform one, a normal one's deviation."""
        return int(self._latest("jitter", at_ns, self.direction.jitter))

    def loss_at(self, at_ns: int) -> RandomLoss:
        """Random loss at a time."""
        return self._latest("loss", at_ns, self.direction.loss)

    def is_black(self, at_ns: int) -> bool:
        """Whether all packets are lost at a time."""
        own_ns = at_ns - self.origin_ns
        return is_within(self.direction.outages(Duration(max(own_ns, 0) + 1)), own_ns)

    def opened(self, at_ns: int) -> int:
        """When a packet leaves that would at a time: then, or when the next contact begins."""
        own_ns = at_ns - self.origin_ns
        closed = self.direction.closures(Duration(max(own_ns, 0) + 1))
        ends = (gap.end for gap in closed if gap.start <= own_ns < gap.end)
        return next((self.origin_ns + end for end in ends), at_ns)

    def farthest_jitter(self, at_ns: int) -> int:
        """How far from its delay a packet can come, practically."""
        shape = self.direction.jitter_distribution
        return self.jitter_at(at_ns) * (5 if shape is Jitter.NORMAL else 1)

    def _latest(self, name: str, at_ns: int, first: _T) -> _T:
        value = first
        for change in self.direction.changes:
            if change.at <= at_ns - self.origin_ns and getattr(change, name) is not None:
                value = getattr(change, name)
        return value


@dataclass(frozen=True)
class Course:
    """All stages of one direction of a path, in order."""

    way: Way
    stages: tuple[Stage, ...]

    @property
    def first_rates(self) -> list[int]:
        """Rates in bit/s at the beginning of the stages that have one."""
        return [stage.rates[0][1] for stage in self.stages if stage.rates]

    @property
    def slowest_rate(self) -> int | None:
        """The lowest rate in bit/s that any stage ever has; None without any."""
        return min((rate for stage in self.stages for _, rate in stage.rates), default=None)

    @property
    def is_regular(self) -> bool:
        """Whether the jitter of one link does not decide which opportunity of a trace is met."""
        traced = [index for index, stage in enumerate(self.stages) if stage.opportunities_ms]
        return all(self.is_even_before(index) for index in traced)

    @property
    def may_overtake(self) -> bool:
        """Whether packets may arrive in another order than they were sent in."""
        return any(
            stage.direction.reordering
            or (stage.direction.jitter_reorders and stage.direction.jitter)
            for stage in self.stages
        )

    @property
    def is_constant(self) -> bool:
        """Whether nothing changes with time."""
        return not any(
            stage.direction.changes
            or stage.direction.is_interrupted
            or isinstance(stage.direction.rate, RandomRate)
            or (
                isinstance(stage.direction.rate, RateSchedule)
                and len(stage.direction.rate.steps) > 1
            )
            for stage in self.stages
        )

    @property
    def narrow(self) -> int:
        """Place of the link with a trace or, without any, of the first with the lowest rate."""
        for index, stage in enumerate(self.stages):
            if (
                stage.opportunities_ms
                if self.is_traced
                else (stage.rates and stage.rates[0][1] == min(self.first_rates))
            ):
                return index
        return 0

    def is_even_before(self, place: int) -> bool:
        """Whether packets come to a link as they were sent: all, once, and at even times."""
        return not any(
            before.direction.loss.mean
            or before.direction.duplication
            or before.direction.corruption
            or before.direction.reordering
            or before.direction.jitter
            or before.direction.drop_packets
            or before.direction.is_interrupted
            or before.direction.changes
            for before in self.stages[:place]
        )

    @property
    def is_traced(self) -> bool:
        """Whether a stage follows a trace."""
        return any(stage.opportunities_ms for stage in self.stages)

    @property
    def smallest_queue_bytes(self) -> int | None:
        """Size of the smallest queue; None without any."""
        return min((s.limit_bytes for s in self.stages if s.limit_bytes is not None), default=None)

    @property
    def delay_ns(self) -> int:
        """Sum of the delays at the beginning."""
        return sum(stage.delay_at(0) for stage in self.stages)

    @property
    def farthest_jitter_ns(self) -> int:
        """How far from the sum of the delays a packet can come, at the beginning."""
        return sum(stage.farthest_jitter(0) for stage in self.stages)

    def small_packet(self, sent_ns: int) -> list[int]:
        """Times at which a small packet that travels alone meets each delay line, and arrives."""
        times = []
        now = sent_ns
        for stage in self.stages:
            now += stage.wait(now)
            times.append(now)
            now += stage.delay_at(now)
        return [*times, now]

    def is_close(self, sent_ns: Sequence[int]) -> bool:
        """Whether an emulation that is late by as little as it may be meets other opportunities.

        A packet that comes to a trace's link a moment after an opportunity waits for the next one, if it takes
        seconds.

        Args:
            sent_ns: when full-size packets are sent.
        """
        if not self.is_traced:
            return False
        late = self.full_packets([at + CLOSE_NS for at in sent_ns])
        exact = self.full_packets(sent_ns)
        return any(b - a > CLOSE_NS for a, b in zip(exact, late, strict=True))

    def is_close_alone(self, sent_ns: int) -> bool:
        """The same of a small packet that travels alone."""
        late = self.small_packet(sent_ns + CLOSE_NS)[-1]
        return self.is_traced and late - self.small_packet(sent_ns)[-1] > CLOSE_NS

    def full_packets(self, sent_ns: Sequence[int]) -> list[int]:
        """Arrival times of full-size packets that find room in every queue."""
        now = list(sent_ns)
        for stage in self.stages:
            now = [left + stage.delay_at(left) for left in stage.departures(now)]
            if stage.direction.keeps_order:
                now = list(itertools.accumulate(now, max))
        return now
