"""Delays: of packets that travel alone, there and back, and how much they vary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow
from headway.overriding import override
from headway.selftest.check import Check
from headway.selftest.fate import fate
from headway.selftest.ideal import Course, Stage
from headway.selftest.intervals import deviation_interval, mean_interval, share_interval
from headway.selftest.step import CheckStep, both_ways
from headway.selftest.timeline import Sight, Timeline, Times, longest_wait_ns
from headway.study.path import Jitter, Way

TOLERANCE_US = 10.0
"""Accepted error of a delay: the emulation's own processing takes about a microsecond."""

_TRACED_TOLERANCE_US = 50.0
"""Likewise behind a trace, where a process hands on packet after packet."""

_NORMAL = NormalDist()
_ECHO_FRAME_BYTES = 98
_ECHOES, _MOST_ECHOES = 10, 200
_ALONE, _ALONE_WITH_JITTER, _ALONE_WITH_REORDERING = 20, 400, 1500


def tolerance_us(*courses: Course) -> float:
    """Accepted error of a delay."""
    traced = any(course.is_traced for course in courses)
    return _TRACED_TOLERANCE_US if traced else TOLERANCE_US


def spacing_ns(course: Course) -> int:
    """Time between packets such that none meets another, nor finds the token bucket empty."""
    slowest = min(course.first_rates, default=10**12)
    return (
        1_000_000
        + 2 * course.farthest_jitter_ns
        + 2 * longest_wait_ns(course)
        + 2 * _ECHO_FRAME_BYTES * 8 * 10**9 // slowest
    )


class RoundTrip(CheckStep):
    """ICMP echo requests, one at a time, answered by the server's kernel."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        answered = math.prod(1 - fate(course).lost for course in timeline.courses.values())
        burst = max(
            stage.direction.loss.burst
            for course in timeline.courses.values()
            for stage in course.stages
        )
        count = min(int(_ECHOES * burst / max(answered, 0.001)), _MOST_ECHOES)
        gap_ns = max(spacing_ns(course) for course in timeline.courses.values())
        sends = tuple((timeline.now_ns + n * gap_ns, 1) for n in range(count))
        self._flow = timeline.add(Way.UP, ProbeFlow(_ECHO_FRAME_BYTES, sends, echo=True))
        timeline.end_step(sends[-1][0])

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        sent, took = sight.round_trips(self._flow)
        up, down = self._timeline.courses[Way.UP], self._timeline.courses[Way.DOWN]
        clear = [not _is_close_there_and_back(up, down, at) for at in sent.tolist()]
        sent, took = sent[clear], took[clear]
        ideal = [down.small_packet(up.small_packet(at)[-1])[-1] - at for at in sent.tolist()]
        expected = float(np.median(ideal)) if ideal else (up.delay_ns + down.delay_ns)
        exact_us = tolerance_us(up, down)
        slack_us = (up.farthest_jitter_ns + down.farthest_jitter_ns) / 1e3 + exact_us
        if slack_us > exact_us or _skippable_ns(up):
            slack_us += (longest_wait_ns(up) + longest_wait_ns(down)) / 1e3
        measured = float(np.median(took)) if len(took) else None
        yield Check(
            "rtt",
            self._timeline.path,
            expected / 1e6,
            None if measured is None else measured / 1e6,
            max(expected - slack_us * 1e3 - _skippable_ns(up) - _skippable_ns(down), 0) / 1e6,
            (expected + slack_us * 1e3) / 1e6,
            "ms",
            f"median of {len(took)} ICMP echoes, within {slack_us:g} us",
        )


def _is_close_there_and_back(up: Course, down: Course, sent_ns: int) -> bool:
    return up.is_close_alone(sent_ns) or down.is_close_alone(up.small_packet(sent_ns)[-1])


class OneWay(CheckStep):
    """Small packets each way, so far apart that none meets another."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._flows: dict[Way, int] = {}
        start_ns = timeline.now_ns
        for way, course in timeline.courses.items():
            gap_ns = spacing_ns(course)
            sends = tuple((start_ns + n * gap_ns, 1) for n in range(_packets(course)))
            self._flows[way] = timeline.add(way, ProbeFlow(SMALL_FRAME_BYTES, sends))
            timeline.end_step(sends[-1][0])

    @override
    def judge(self, sight: Sight) -> Iterator[Check]:
        for way in both_ways():
            course = self._timeline.courses[way]
            passage = sight.passage(way, self._flows[way])
            numbers, delays = passage.delays()
            clear = [not course.is_close_alone(at) for at in passage.sent_ns[numbers].tolist()]
            numbers, delays = numbers[clear], delays[clear]
            sent = passage.sent_ns[numbers]
            waits = [course.small_packet(at)[-1] - at - course.delay_ns for at in sent.tolist()]
            delays = delays - np.array(waits, np.int64)
            if not course.is_regular or _queues_copies(course):
                continue
            early = _overtakers(course, delays)
            yield from self._reordering(way, course, early)
            yield from self._delays(way, course, delays[~early] if early is not None else delays)

    def _reordering(
        self, way: Way, course: Course, early: np.ndarray[tuple[int], np.dtype[np.bool_]] | None
    ) -> Iterator[Check]:
        if early is None or not len(early):
            return
        share = 1 - math.prod(1 - stage.direction.reordering for stage in course.stages)
        low, high = share_interval(share, len(early))
        yield Check(
            f"reordering {way}",
            self._timeline.path,
            100 * share,
            100 * float(early.mean()),
            100 * low,
            100 * high,
            "%",
            f"share of {len(early)} packets that skip the delay, binomial interval",
        )

    def _delays(self, way: Way, course: Course, delays: Times) -> Iterator[Check]:
        path = self._timeline.path
        reorders = any(stage.direction.reordering for stage in course.stages)
        if reorders and _overtakers(course, delays) is None:
            return
        in_ms = delays / 1e6
        moments = [_moments(stage) for stage in course.stages]
        mean = math.fsum(moment[0] for moment in moments) / 1e6
        deviation = math.sqrt(math.fsum(moment[1] ** 2 for moment in moments)) / 1e6
        low, high = mean_interval(mean, deviation, len(delays))
        slack = tolerance_us(course) / 1e3
        yield Check(
            f"delay {way}",
            path,
            mean,
            float(in_ms.mean()) if len(delays) else None,
            low - slack,
            high + slack,
            "ms",
            f"mean of {len(delays)} lone packets, within {tolerance_us(course):g} us"
            + (" of the mean's interval" if deviation else ""),
        )
        if not deviation:
            return
        low, high = deviation_interval(deviation, len(delays))
        yield Check(
            f"jitter {way}",
            path,
            deviation,
            float(in_ms.std()) if len(delays) else None,
            low,
            high,
            "ms",
            f"standard deviation of {len(delays)} delays",
        )
        if all(s.direction.jitter_distribution is Jitter.UNIFORM for s in course.stages):
            yield self._range(way, course, delays)

    def _range(self, way: Way, course: Course, delays: Times) -> Check:
        farthest = float(np.abs(delays - course.delay_ns).max()) if len(delays) else None
        stated = course.farthest_jitter_ns / 1e6
        return Check(
            f"jitter range {way}",
            self._timeline.path,
            stated,
            None if farthest is None else farthest / 1e6,
            0.8 * stated if _jittering(course) == 1 else 0,
            stated + tolerance_us(course) / 1e3,
            "ms",
            "farthest from the delay; uniform jitter ends there",
        )


def _skippable_ns(course: Course) -> int:
    """By how much reordering may make a packet early."""
    skipped = sum(stage.delay_at(0) for stage in course.stages if stage.direction.reordering)
    return skipped + 2 * longest_wait_ns(course) if skipped else 0


def _packets(course: Course) -> int:
    if any(stage.direction.reordering for stage in course.stages):
        return _ALONE_WITH_REORDERING
    return _ALONE_WITH_JITTER if course.farthest_jitter_ns else _ALONE


def _queues_copies(course: Course) -> bool:
    """Whether both copies of a duplicated packet meet a queue, where one waits for the other."""
    duplicating = [i for i, stage in enumerate(course.stages) if stage.direction.duplication]
    return any(stage.rates for stage in course.stages[min(duplicating, default=99) + 1 :])


def _jittering(course: Course) -> int:
    return sum(stage.direction.jitter > 0 for stage in course.stages)


def _overtakers(course: Course, delays: Times) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """Which packets skipped a delay; None if the jitter hides it, or none may."""
    skipped = [stage.delay_at(0) for stage in course.stages if stage.direction.reordering]
    if not skipped or min(skipped) / 2 <= course.farthest_jitter_ns:
        return None
    return np.asarray(delays < course.delay_ns - min(skipped) / 2)


def _moments(stage: Stage) -> tuple[float, float]:
    """Mean and standard deviation of a stage's delay in nanoseconds."""
    delay, jitter = stage.delay_at(0), stage.jitter_at(0)
    if not jitter or stage.direction.jitter_distribution is Jitter.UNIFORM:
        return delay, jitter / math.sqrt(3)
    # A normal delay below zero is none at all: the moments of the rectified distribution.
    below = delay / jitter
    mean = delay * _NORMAL.cdf(below) + jitter * _NORMAL.pdf(below)
    square = (delay**2 + jitter**2) * _NORMAL.cdf(below) + delay * jitter * _NORMAL.pdf(below)
    return mean, math.sqrt(max(square - mean**2, 0))
