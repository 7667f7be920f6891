"""Rates: of a bulk flow, of neighbouring packets, of a trace; queues: how much they hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.contract.probe_orders import ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.delay import tolerance_us
from headway.selftest.feed import Feed, feed
from headway.selftest.ideal import Course, Stage
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import ProbePassage, Sight, Timeline
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES, Discipline

_BULK_PACKETS, _TRACED_PACKETS = 100, 300
_PRECISION = 1e-3
_DEEPEST = 12_000
AHEAD_NS = 1512
"""How much sooner than at its rate a train may be through a link that was idle, however long it is: the link's bucket
holds what it sends in 1 us, and either end of the train is seen up to a reading of the clock (256 ns) off."""
_CLOCK_STEP_NS = 1000
"""The virtual clock moves by fractions of a microsecond when it is read."""
_SOON = frozenset({Discipline.CODEL, Discipline.FQ_CODEL, Discipline.CAKE, Discipline.DUALPI2})
"""Disciplines that end a standing queue within seconds. PIE takes longer: the smaller its probability, the smaller the
steps by which it rises (RFC 8033, section 5.2)."""
_INTERVAL_NS = 100_000_000
"""Of disciplines without an interval: time in which they act."""


class SteadyFlow(CheckStep):
    """A steady flow of full-size packets at the rate of the narrowest link."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._feeds: dict[Way, Feed] = {}
        start_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            if _is_measurable(course):
                wanted = _TRACED_PACKETS if course.is_traced else _BULK_PACKETS
                fed = feed(timeline, way, course, start_ns, lambda n, _, w=wanted: n >= w)  # type: ignore[misc]
                self._feeds[way] = fed
                timeline.end_step(int(fed.ideal_ns[-1]))

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            if way not in self._feeds:
                continue
            course, fed = self._timeline.courses[way], self._feeds[way]
            passage = sight.passage(way, fed.flow)
            if course.is_traced:
                yield self._trace(way, course, fed, passage)
            else:
                yield self._rate(way, course, passage)
                if not course.farthest_jitter_ns:
                    yield self._spacing(way, course, passage)

    def _rate(self, way: Way, course: Course, passage: ProbePassage) -> Check:
        rate = min(course.first_rates)
        numbers, times = passage.first_arrivals()
        measured, slack, early = None, _PRECISION, 0.0
        if len(numbers) > 1:
            span_ns = int(times.max() - times.min())
            between = int(numbers[times.argmax()] - numbers[times.argmin()])
            measured = between * FRAME_BYTES * 8e9 / span_ns / 1e6
            slack += 2 * course.farthest_jitter_ns / span_ns
            early = AHEAD_NS / span_ns
        expected = rate / 1e6
        return Check(
            f"rate {way}",
            self._timeline.path,
            expected,
            measured,
            expected * (1 - slack),
            expected * (1 + max(slack, early)),
            "Mbit/s",
            f"{len(numbers)} packets of {FRAME_BYTES} bytes on the wire, within {100 * slack:.2g} %"
            + (f", or {AHEAD_NS / 1e3:g} us early" if early > slack else ""),
        )

    def _spacing(self, way: Way, course: Course, passage: ProbePassage) -> Check:
        expected = FRAME_BYTES * 8e6 / min(course.first_rates)
        numbers, times = passage.first_arrivals()
        neighbours = np.diff(numbers) == 1
        gaps = np.diff(times)[neighbours]
        slack = max(_PRECISION * expected, _CLOCK_STEP_NS / 1e3)
        return Check(
            f"packet spacing {way}",
            self._timeline.path,
            expected,
            float(np.median(gaps)) / 1e3 if len(gaps) else None,
            expected - slack,
            expected + slack,
            "us",
            f"median of {len(gaps)} neighbours of {FRAME_BYTES} bytes on the wire",
        )

    def _trace(self, way: Way, course: Course, fed: Feed, passage: ProbePassage) -> Check:
        _, late = fed.lateness_ns(passage)
        worst = float(np.abs(late).max()) / 1e3 if len(late) else None
        slack = tolerance_us(course) + course.farthest_jitter_ns / 1e3
        return Check(
            f"trace {way}",
            self._timeline.path,
            0,
            worst,
            0,
            slack,
            "us",
            f"farthest of {len(late)} packets of 1500 bytes from their opportunities",
        )


def _is_measurable(course: Course) -> bool:
    if course.is_traced and (course.first_rates or not course.is_regular):
        return False
    if any(stage.direction.reordering for stage in course.stages):
        return False
    return bool(course.first_rates or course.is_traced) and course.is_even_before(course.narrow)


class Depth(CheckStep):
    """More packets at one instant than a queue holds."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._name = "queue depth after changes" if timeline.changing else "queue depth"
        self._flows: dict[Way, int] = {}
        self._courses = timeline.changing if timeline.changing else timeline.courses
        self._start_ns = start_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            stage = _first_queue(course)
            if stage is None or (frames := (stage.limit_bytes or 0) // FRAME_BYTES) > _DEEPEST:
                continue
            sends = ((start_ns, 2 * frames + 10 if frames < 100 else frames + frames // 4),)
            self._flows[way] = timeline.add(way, ProbeFlow(FRAME_BYTES, sends))
            timeline.end_step(start_ns)

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            stage = _first_queue(self._timeline.courses[way])
            if way in self._flows and stage is not None and stage.limit_bytes is not None:
                passage = sight.passage(way, self._flows[way])
                yield self._depth(way, stage, stage.limit_bytes, passage)

    def _depth(self, way: Way, stage: Stage, limit: int, passage: ProbePassage) -> Check:
        # The first packet leaves a link with a rate at once; those behind it fill the queue up
        # to the last that arrives, as nothing leaves meanwhile.
        left = 0 if stage.opportunities_ms else 1
        last = int(passage.numbers.max()) if len(passage.numbers) else None
        number = None if last is None else (last + 1 - left) * FRAME_BYTES
        low = limit - FRAME_BYTES * (1 + _last_lost(self._courses[way], self._start_ns))
        # After other packets, the link may not be ready to send the first at once.
        low -= FRAME_BYTES * int(self._courses is not self._timeline.courses)
        high = limit + FRAME_BYTES * int(bool(stage.opportunities_ms))
        note = f"what fits of {len(passage.sent_ns)} packets at once, within one packet"
        if stage.direction.queue.discipline is Discipline.RED:
            low, note = limit // 6, "RED may drop from its lower threshold on"
        return Check(
            f"{self._name} {way}",
            self._timeline.path,
            limit,
            number,
            max(low, 0),
            high,
            "bytes",
            note,
        )


def _first_queue(course: Course) -> Stage | None:
    """The queue that a burst fills, if what passes it meets no narrower link."""
    first = next((s for s in course.stages if s.limit_bytes is not None), None)
    if first is None or any(stage.direction.reordering for stage in course.stages):
        return None
    if any(stage.direction.loss.mean >= 1 for stage in course.stages):
        return None  # what never arrives tells nothing
    place = course.stages.index(first)
    behind = course.stages[place + 1 :]
    bunches = first.direction.jitter and any(stage.limit_bytes is not None for stage in behind)
    if not course.is_even_before(place) or bunches:
        return None
    if first.direction.queue.discipline is Discipline.RED and not course.is_constant:
        return None  # RED stays wary for long after a burst, which later steps would meet
    if course.is_traced:
        return first if sum(s.limit_bytes is not None for s in course.stages) == 1 else None
    fits = first.direction.queue.discipline in (Discipline.DROPTAIL, Discipline.RED)
    return first if fits and first.rates[0][1] == min(course.first_rates) else None


def _last_lost(course: Course, at_ns: int) -> int:
    """How many of the last packets of a train may be lost by chance at a time."""
    loss = max(
        (stage.loss_at(at_ns) for stage in course.stages), key=lambda loss_law: loss_law.mean
    )
    damage = sum(stage.direction.corruption for stage in course.stages)
    if not loss.mean and not damage:
        return 0
    ends = min(loss.leave_bad if loss.burst > 1 else 1 - loss.mean, 1 - damage)
    return int(np.ceil(np.log(1e-5) / np.log(max(1 - ends, 1e-9))))


class Standing(CheckStep):
    """A standing queue, kept up by a flow at just the link's rate, which an AQM must shorten."""

    _WANTED_DROPS = 20
    _MOST_PACKETS = 6000

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._plans: dict[Way, tuple[int, int]] = {}
        start_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            stage = _managed(course)
            if stage is None:
                continue
            frame_ns = FRAME_BYTES * 8 * 10**9 // stage.rates[0][1]
            standing = self._standing(stage, frame_ns)
            count = self._count(stage, standing, frame_ns)
            if standing < 1 or count > self._MOST_PACKETS:
                continue
            batch = max(count // 600, 1)
            sends = [(start_ns, standing)] + [
                (start_ns + n * batch * frame_ns, batch) for n in range(1, count // batch)
            ]
            self._plans[way] = timeline.add(way, ProbeFlow(FRAME_BYTES, tuple(sends))), standing
            timeline.end_step(sends[-1][0])

    def _standing(self, stage: Stage, frame_ns: int) -> int:
        """Packets of the standing queue: so many above the target, if the queue has room."""
        room = (stage.limit_bytes or 0) // FRAME_BYTES - 2
        if stage.direction.queue.discipline is Discipline.RED:
            return room
        above = self._goal(stage, frame_ns) // frame_ns + self._WANTED_DROPS
        return min(above, room) if room > 2 * self._goal(stage, frame_ns) // frame_ns else 0

    def _count(self, stage: Stage, standing: int, frame_ns: int) -> int:
        # CoDel's n-th drop comes an interval / sqrt(n) after the one before.
        span_ns = int(
            (3 + 2.5 * standing**0.5) * stage.direction.queue.times.get("interval", _INTERVAL_NS)
        )
        return span_ns // frame_ns + standing

    def _goal(self, stage: Stage, frame_ns: int) -> int:
        """How long packets may wait in the end."""
        discipline = stage.direction.queue.discipline
        if discipline is Discipline.RED:
            return (stage.limit_bytes or 0) // 2 // FRAME_BYTES * frame_ns + 2 * frame_ns
        return (stage.direction.queue.target_ns or 0) + 4 * frame_ns

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            course = self._timeline.courses[way]
            stage = _managed(course)
            if way not in self._plans or stage is None:
                continue
            flow, standing = self._plans[way]
            frame_ns = FRAME_BYTES * 8 * 10**9 // stage.rates[0][1]
            numbers, delays = sight.passage(way, flow).delays()
            waits = delays - course.delay_ns
            last = waits[-max(len(waits) // 10, 1) :]
            goal_ns = self._goal(stage, frame_ns) + course.farthest_jitter_ns
            yield Check(
                f"standing queue {way}",
                self._timeline.path,
                (stage.direction.queue.target_ns or goal_ns) / 1e6,
                float(np.median(last)) / 1e6 if len(last) else None,
                -course.farthest_jitter_ns / 1e6,
                goal_ns / 1e6,
                "ms",
                f"median wait at the end of {len(numbers)} packets at the link's rate, "
                f"{standing * frame_ns / 1e6:.3g} ms at the beginning",
            )


def _managed(course: Course) -> Stage | None:
    """The narrowest link, if its queue is managed actively."""
    narrowest = min(
        (s for s in course.stages if s.rates), key=lambda s: s.rates[0][1], default=None
    )
    if narrowest is None or course.is_traced:
        return None
    if narrowest.direction.queue.discipline is Discipline.RED and not course.is_constant:
        return None
    discipline = narrowest.direction.queue.discipline
    return narrowest if discipline is Discipline.RED or discipline in _SOON else None
