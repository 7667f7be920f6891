"""Events at stated times: outages, contacts, and changes of delay, loss and rate."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.delay import tolerance_us
from headway.selftest.feed import Feed, feed
from headway.selftest.ideal import Course
from headway.selftest.intervals import effective_trials, share_interval
from headway.selftest.spans import (
    MOST_BOUNDARIES,
    closures,
    gaps,
    is_lost_at_times,
    line_times,
    waits_or_changes,
)
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import ProbePassage, Sight, Timeline, bursts
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES
from headway.study.rates import RandomRate

_BESIDE = (-15, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10, 15)
"""When packets are sent around a change, in steps of 0.1 ms, or more on a slow link."""
_WITHIN = 10
_UNSURE_NS = 5_000
"""Packets that meet a change so closely are not judged."""
_FED_BESIDE = 20
_MOST_FED = 1500
_LOSS_PACKETS = 1000
_FRAMES_OFF = 1.0


class Pulses(CheckStep):
    """Single small packets shortly before, within and after outages, waits for contacts and changes of delay."""

    def __init__(self, timeline: Timeline, courses: dict[Way, Course]) -> None:
        self._timeline = timeline
        self._courses = courses
        self._flows: dict[Way, int] = {}
        for way, course in courses.items():
            times = self._times(course)
            if times and course.is_regular:
                self._flows[way] = timeline.add(
                    way, ProbeFlow(SMALL_FRAME_BYTES, tuple((at, 1) for at in times))
                )
                timeline.end_step(times[-1])

    def _times(self, course: Course) -> list[int]:
        numbers: set[int] = set()
        # The last packet that is fed may leave somewhat later than planned.
        last_ns = FRAME_BYTES * 8 * 2 * 10**9 // (course.slowest_rate or 10**12)
        fed = [(start, end + last_ns) for start, end in _fed_spans(course)]
        step_ns = _step_ns(course)
        for boundaries, upstream_ns in _line_boundaries(course):
            for at in boundaries:
                numbers |= {at - upstream_ns + beside * step_ns for beside in _BESIDE}
            for stage in course.stages:
                for window in gaps(stage.direction):
                    first = stage.origin_ns + window.start - upstream_ns
                    step = (window.end - window.start) / (_WITHIN + 1)
                    numbers |= {int(first + n * step) for n in range(1, _WITHIN + 1)}
        apart: list[int] = []
        for at in sorted(numbers):
            if not any(start <= at <= end for start, end in fed) and (
                not apart or at - apart[-1] >= step_ns // 2
            ):
                apart.append(at)
        return apart

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            if way not in self._flows:
                continue
            course = self._courses[way]
            passage = sight.passage(way, self._flows[way])
            travels = _travels(course, passage.sent_ns.tolist())
            if any(is_lost_at_times(stage.direction) for stage in course.stages):
                yield self._outage(way, course, passage, travels)
            if any(waits_or_changes(stage.direction) for stage in course.stages):
                yield from self._delay(way, course, passage, travels)

    def _outage(
        self, way: Way, course: Course, passage: ProbePassage, travels: list[_Travel]
    ) -> Check:
        lost = passage.lost.tolist()
        lossless = all(
            not s.direction.corruption
            and not s.direction.loss.mean
            and not any(c.loss for c in s.direction.changes)
            for s in course.stages
        )
        judged = [(t.black, was) for t, was in zip(travels, lost, strict=True) if t.is_sure]
        wrong = sum(black != was if black or lossless else 0 for black, was in judged)
        inside = sum(black for black, _ in judged)
        note = f"{inside} packets within the windows and {len(judged) - inside} outside"
        if not lossless:
            note += "; those outside may be lost by chance"
        return Check(f"blackout {way}", self._timeline.path, 0, wrong, 0, 0, "wrong", note)

    def _delay(
        self, way: Way, course: Course, passage: ProbePassage, travels: list[_Travel]
    ) -> Iterator[Check]:
        numbers, times = passage.first_arrivals()
        off: list[float] = [
            travels[n].distance_ns(int(at))
            for n, at in zip(numbers.tolist(), times.tolist(), strict=True)
            if travels[n].is_sure
        ]
        if not off:
            return  # too few packets came through, or none could be judged
        note = f"farthest of {len(off)} packets around the changes from their delay"
        if any(s.direction.reordering for s in course.stages):
            off = [float(np.median(off))]
            note = f"median of {len(numbers)} packets' distance from their delay"
        yield Check(
            f"delay changes {way}",
            self._timeline.path,
            0,
            max(off) / 1e3,
            0,
            tolerance_us(course) + _bunching_us(course),
            "us",
            note,
        )


@dataclass(frozen=True)
class _Travel:
    """What an ideal path does to one small packet."""

    arrival_ns: int
    latest_ns: int
    """When it arrives if it must not overtake those before it."""
    jitter_ns: int
    black: bool
    is_sure: bool

    def distance_ns(self, arrived_ns: int) -> int:
        """How far a time is from those at which the packet may arrive."""
        early = self.arrival_ns - self.jitter_ns - arrived_ns
        late = arrived_ns - self.latest_ns - self.jitter_ns
        return max(early, late, 0)

    @staticmethod
    def of(course: Course, sent_ns: int) -> _Travel:
        *meets, arrival = course.small_packet(sent_ns)
        jitter = unsure = 0
        black, sure = False, True
        for stage, at in zip(course.stages, meets, strict=True):
            boundaries = _boundaries(stage.origin_ns, line_times(stage.direction))
            sure &= all(abs(at - boundary) > _UNSURE_NS + unsure for boundary in boundaries)
            black |= stage.is_black(at)
            jitter += stage.farthest_jitter(at)
            unsure += stage.farthest_jitter(at)
            unsure += stage.delay_at(at) if stage.direction.reordering else 0
        return _Travel(arrival, arrival, jitter, black, sure)


def _bunching_us(course: Course) -> float:
    """How long a packet may wait for others: where a shorter delay makes them meet at a second link, and where they were kept."""
    if not course.slowest_rate:
        return 0.0
    keeps = any(any(closures(stage.direction)) for stage in course.stages)
    packets = 3 * (len(course.stages) > 1) + (_WITHIN + len(_BESIDE)) * keeps
    return packets * SMALL_FRAME_BYTES * 8e6 / course.slowest_rate


def _travels(course: Course, sent_ns: list[int]) -> list[_Travel]:
    travels = [_Travel.of(course, at) for at in sent_ns]
    if not any(stage.direction.keeps_order for stage in course.stages):
        return travels
    # Where the delay becomes shorter, packets wait for those that were sent before.
    last = itertools.accumulate((travel.arrival_ns for travel in travels), max)
    return [dataclasses.replace(t, latest_ns=at) for t, at in zip(travels, last, strict=True)]


class LossChanges(CheckStep):
    """Counted packets after each change of the loss."""

    def __init__(self, timeline: Timeline, courses: dict[Way, Course]) -> None:
        self._timeline = timeline
        self._courses = courses
        self._flows: list[tuple[Way, int, int]] = []
        for way, course in courses.items():
            if len(course.stages) == 1:
                self._plan(way, course)

    def _plan(self, way: Way, course: Course) -> None:
        stage = course.stages[0]
        changes = [c.at + stage.origin_ns for c in stage.direction.changes if c.loss]
        ends = sorted({*_boundaries(stage.origin_ns, line_times(stage.direction)), *changes})
        spans = _fed_spans(course)
        for start in changes[:MOST_BOUNDARIES]:
            end = min((at for at in ends if at > start), default=start + 10**12)
            first = max((stop for begin, stop in spans if begin <= start <= stop), default=start)
            aside_ns = 5_000_000 + 2 * _BESIDE[-1] * _step_ns(course)
            first += aside_ns
            planned = bursts(course, first, _LOSS_PACKETS)
            gap = planned[1][0] - first if len(planned) > 1 else 0
            sends = [
                send
                for send in planned
                if send[0] < end - aside_ns - gap and not any(b <= send[0] <= e for b, e in spans)
            ]
            if sends and not stage.is_black(start):
                flow = self._timeline.add(way, ProbeFlow(SMALL_FRAME_BYTES, tuple(sends)))
                self._flows.append((way, flow, start))
                self._timeline.end_step(sends[-1][0])

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way, flow, start_ns in self._flows:
            stage = self._courses[way].stages[0]
            loss = stage.loss_at(start_ns)
            lost = sight.passage(way, flow).lost
            correlation = 1 - loss.enter_bad - loss.leave_bad if loss.burst > 1 else 0.0
            low, high = share_interval(loss.mean, effective_trials(len(lost), correlation))
            at_s = (start_ns - stage.origin_ns) / 1e9
            if stage.direction.duplication or stage.direction.corruption:
                continue
            yield Check(
                f"loss {way} from {at_s:g} s",
                self._timeline.path,
                loss.mean.pct,
                100 * float(lost.mean()),
                100 * low,
                100 * high,
                "%",
                f"binomial interval, {len(lost)} packets",
            )


class RateChanges(CheckStep):
    """Links kept busy around the times at which their rate changes."""

    def __init__(self, timeline: Timeline, courses: dict[Way, Course]) -> None:
        self._timeline = timeline
        self._courses = courses
        self._feeds: dict[Way, list[Feed]] = {way: [] for way in Way}
        for way, course in courses.items():
            for start, end in _fed_spans(course):
                fed = feed(
                    timeline,
                    way,
                    course,
                    start,
                    # A span that is over before a packet fits into it has one all the same.
                    lambda n, at, last=end: n > 0 and (at >= last or n >= _MOST_FED),  # type: ignore[misc]
                )
                self._feeds[way].append(fed)
                timeline.end_step(int(fed.ideal_ns[-1]))

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            if self._feeds[way]:
                yield self._deliveries(way, sight)
            yield from self._drawn(way)

    def _deliveries(self, way: Way, sight: Sight) -> Check:
        course = self._courses[way]
        stage = next(s for s in course.stages if len(s.rates) > 1)
        worst, arrived = 0.0, 0
        for fed in self._feeds[way]:
            numbers, late = fed.lateness_ns(sight.passage(way, fed.flow))
            arrived += len(numbers)
            for number, late_ns in zip(numbers.tolist(), late.tolist(), strict=True):
                at = int(fed.ideal_ns[number]) - course.delay_ns
                beyond = max(abs(late_ns) - course.farthest_jitter_ns, 0)
                worst = max(worst, beyond * stage.rate_at(at) / (FRAME_BYTES * 8e9))
        return Check(
            f"rate changes {way}",
            self._timeline.path,
            0,
            worst if arrived else None,
            0,
            _FRAMES_OFF,
            "packets",
            f"most that the link was ahead or behind, over {arrived} packets around "
            f"{min(len(stage.rates) - 1, MOST_BOUNDARIES)} changes",
        )

    def _drawn(self, way: Way) -> Iterator[Check]:
        for stage in self._courses[way].stages:
            if isinstance(stage.direction.rate, RandomRate):
                rates = [rate for _, rate in stage.rates]
                low, high = stage.direction.rate.low, stage.direction.rate.high
                outside = sum(not low <= rate <= high for rate in rates)
                same = len(rates) - len(set(rates)) if high - low > 10**6 else 0
                yield Check(
                    f"drawn rates {way}",
                    self._timeline.path,
                    0,
                    outside + same,
                    0,
                    0,
                    "wrong",
                    f"{len(rates)} rates, each within its range and drawn anew",
                )


def _step_ns(course: Course) -> int:
    """Time between packets around a change; on slow links they need longer to get away."""
    return max(100_000, 10**9 * 4 * SMALL_FRAME_BYTES * 8 // (course.slowest_rate or 10**12))


def horizon_ns(course: Course) -> int:
    """How much of a course's own time is looked at."""
    latest = 0
    for stage in course.stages:
        rates = [at for at, _ in stage.rates if at > 0][:MOST_BOUNDARIES]
        latest = max([latest, *line_times(stage.direction), *rates])
    return latest


def _boundaries(origin_ns: int, times: list[int]) -> list[int]:
    return [origin_ns + time for time in times]


def _line_boundaries(course: Course) -> Iterator[tuple[list[int], int]]:
    """For each stage: when its delay line changes, and how long packets travel to get there."""
    upstream_ns = 0
    for stage in course.stages:
        yield _boundaries(stage.origin_ns, line_times(stage.direction)), upstream_ns
        upstream_ns += stage.delay_at(0)


def _fed_spans(course: Course) -> list[tuple[int, int]]:
    """Times around changes of the rate during which the link is kept busy."""
    changing = [stage for stage in course.stages if len(stage.rates) > 1]
    if (
        len(changing) != 1
        or course.is_traced
        or any(stage.direction.reordering for stage in course.stages)
    ):
        return []
    stage = changing[0]
    if not course.is_even_before(course.stages.index(stage)):
        return []
    others = [s.rates[0][1] for s in course.stages if s.rates and s is not stage]
    rates = [rate for _, rate in stage.rates]
    if others and min(others) < 1.5 * max(rates):
        return []
    upstream_ns = sum(s.delay_at(0) for s in course.stages[: course.stages.index(stage)])
    spans: list[tuple[int, int]] = []
    for (_, before), (at, after) in list(zip(stage.rates, stage.rates[1:], strict=False))[
        :MOST_BOUNDARIES
    ]:
        # A sixth of a packet more: the change comes in the midst of one, shortly before the next
        # one is put behind it.
        start = max(at - _frames_ns(before) * 121 // 120, stage.origin_ns + upstream_ns + 1_000_000)
        start, end = start - upstream_ns, at + _frames_ns(after) - upstream_ns
        if spans and start <= spans[-1][1] + _frames_ns(before):
            start, _ = spans.pop()
        spans.append((start, end))
    return spans


def _frames_ns(rate: int) -> int:
    return _FED_BESIDE * FRAME_BYTES * 8 * 10**9 // rate
