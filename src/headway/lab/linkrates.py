"""Rates of links over time, as a run's seed plans them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from headway.lab.direction import LinkWay, rate_steps
from headway.lab.network import link_ways
from headway.planning.topology import Leg
from headway.study.path import Way
from headway.study.rates import TraceRate
from headway.study.units import Duration

_TRACED_MS = 1000
"""Spans over which a trace's opportunities are counted."""
_OPPORTUNITY_MBIT = 1500 * 8 / 1e6


def rates_towards_client(
    legs: Sequence[Leg], seed: int, until: Duration
) -> tuple[tuple[float, float], ...]:
    """The rate of the narrowest link at the start, from each moment on; none if no link has a rate.

    Args:
        legs: what a connection crosses.
        seed: of the run.
        until: changes are planned up to this time of the workload.

    Returns:
        Seconds from the workload's start, and Mbit/s. Of a trace, means over whole seconds.
    """
    ways = [
        link_way
        for leg in legs
        for link_way in link_ways(leg, seed, until)
        if link_way.way is Way.DOWN
    ]
    limited = [way for way in ways if way.direction.first_rate is not None]
    if not limited:
        return ()
    return tuple(_steps(min(limited, key=lambda link_way: link_way.direction.first_rate or 0)))


def mean_rate_mbit(
    steps: Sequence[tuple[float, float]], begin_s: float, end_s: float
) -> float | None:
    """The mean of such rates from a time to a later one; None without any."""
    if not steps or end_s <= begin_s:
        return None
    first = max(bisect_right(steps, begin_s, key=lambda step: step[0]) - 1, 0)
    spans = pairwise((*steps[first:], (float("inf"), 0.0)))
    total = 0.0
    for (from_s, mbit), (until_s, _) in spans:
        if from_s >= end_s:
            break
        total += mbit * (min(until_s, end_s) - max(from_s, begin_s))
    return total / (end_s - begin_s)


def _steps(way: LinkWay) -> Iterator[tuple[float, float]]:
    rate = way.direction.rate
    if isinstance(rate, TraceRate):
        yield from _traced(rate.opportunities_ms, way.until.s)
        return
    for at, step in rate_steps(way):
        yield at.s, step.mbit


def _traced(opportunities_ms: Sequence[int], until_s: float) -> Iterator[tuple[float, float]]:
    """The opportunities of every second of a trace, which starts again at its end."""
    length = opportunities_ms[-1]
    laps = int(until_s * 1000 // length) + 1
    counts = [0] * (laps * length // _TRACED_MS + 1)
    for lap in range(laps):
        for at in opportunities_ms:
            place = (lap * length + at) // _TRACED_MS
            if place < len(counts):
                counts[place] += 1
    for second, count in enumerate(counts):
        if second <= until_s:
            yield float(second), count * _OPPORTUNITY_MBIT
