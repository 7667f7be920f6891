"""Attribution: which section of a chain held a transfer back, and by what.

A sender whose program has nothing to send waits for the section behind it. So the question goes
upstream, from the client on, to the first sender that did not wait for another one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from headway.diagnosis.reasons import Limit, LimitedInterval, intervals
from headway.diagnosis.segment import SegmentSamples
from headway.diagnosis.transfer import TimeSpan, Transfer


class Cause(NamedTuple):
    """What holds a transfer back: a section, counted from the client on, and a limit there."""

    section: int
    limit: Limit


def first_byte_s(segments: Sequence[SegmentSamples], transfer: Transfer) -> float:
    """When the first byte of the response came to the client; the last came no earlier.

    The delay is the path's at its beginning: where it became shorter meanwhile, the byte came sooner.
    """
    arrived_s = segments[0].begins_s(transfer) + segments[0].segment.delay_s
    return arrived_s if transfer.end_s is None else min(arrived_s, transfer.end_s)


def causes(segments: Sequence[SegmentSamples], begin_s: float, end_s: float) -> dict[Cause, float]:
    """Seconds of a span of the client's time by what held the transfer back.

    What the client receives at a time left every sender one propagation delay earlier, and each of
    them is judged by its state then.

    Args:
        segments: the sections of the chain, the client's first.
        begin_s: when the span begins at the client, seconds from the workload's start.
        end_s: when it ends there.
    """
    (values,) = causes_within(segments, [TimeSpan(begin_s, end_s)])
    return values


def causes_within(
    segments: Sequence[SegmentSamples], spans: Iterable[TimeSpan]
) -> list[dict[Cause, float]]:
    """The same of many spans."""
    chain = _Chain(segments)
    return [chain.causes(span.begin_s, span.end_s) for span in spans]


def largest(spent: Mapping[Cause, float]) -> Cause | None:
    """The limit that took most of the time, with the section where it took most of that.

    None if there was no time.
    """
    if not spent:
        return None
    by_limit = times_by_limit(spent)
    limit = max(by_limit, key=by_limit.__getitem__)
    return max((cause for cause in spent if cause.limit is limit), key=spent.__getitem__)


def times_by_limit(spent: Mapping[Cause, float]) -> dict[Limit, float]:
    """Seconds by limit, of all sections together."""
    by_limit: dict[Limit, float] = defaultdict(float)
    for cause, time_s in spent.items():
        by_limit[cause.limit] += time_s
    return by_limit


class _Chain:
    """What held back the transfer on every section, between times of the client's clock."""

    def __init__(self, segments: Sequence[SegmentSamples]) -> None:
        self._sections = [_on_the_clients_clock(segment) for segment in segments]

    def causes(self, begin_s: float, end_s: float) -> dict[Cause, float]:
        spent: dict[Cause, float] = defaultdict(float)
        self._ask(0, begin_s, end_s, 1.0, spent)
        return spent

    def _ask(
        self, section: int, begin_s: float, end_s: float, weight: float, spent: dict[Cause, float]
    ) -> float:
        """Add a section's causes, and those behind it; returns for how much of the span it knows.

        A share of a span counts as this share of every moment of it, here and upstream.
        """
        known_s = 0.0
        for begins_s, ends_s, shares in self._within(section, begin_s, end_s):
            span_s = ends_s - begins_s
            known_s += span_s
            for limit, share in shares:
                left_s = span_s
                if limit is Limit.APPLICATION and section + 1 < len(self._sections):
                    left_s -= self._ask(section + 1, begins_s, ends_s, weight * share, spent)
                if left_s:
                    spent[Cause(section, limit)] += weight * share * left_s
        return known_s

    def _within(
        self, section: int, begin_s: float, end_s: float
    ) -> Iterator[tuple[float, float, list[tuple[Limit, float]]]]:
        """The section's intervals, cut to a span, with what took a share of them."""
        limited_intervals = self._sections[section]
        first = bisect_right(limited_intervals, begin_s, key=lambda interval: interval.end_s)
        for interval in islice(limited_intervals, first, None):
            if interval.begin_s >= end_s:
                return
            shares = [(limit, share) for limit, share in interval.shares.items() if share]
            yield max(interval.begin_s, begin_s), min(interval.end_s, end_s), shares


def _on_the_clients_clock(segment: SegmentSamples) -> list[LimitedInterval]:
    """A section's intervals, at the times at which the client receives what was sent in them."""
    delay_s = segment.segment.delay_s
    return [
        LimitedInterval(interval.begin_s + delay_s, interval.end_s + delay_s, interval.shares)
        for interval in intervals(segment)
    ]
