"""Spans in which a direction's packets are lost or kept, and changes of its delay line: the first times of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from headway.study.contacts import NEVER, Window
from headway.study.path import Direction
from headway.study.units import Duration

MOST_BOUNDARIES = 12
"""How many times of a direction are looked at, from its first on."""


def line_times(direction: Direction) -> list[int]:
    """Times at which a direction's delay line changes, the first ones only."""
    spans = itertools.chain(early(direction.outages), closures(direction))
    times = {int(time) for span in spans for time in (span.start, span.end) if time < NEVER}
    times |= {
        int(c.at)
        for c in direction.changes
        if c.delay is not None or c.jitter is not None or c.loss is not None
    }
    return sorted(times)[:MOST_BOUNDARIES]


def is_lost_at_times(direction: Direction) -> bool:
    """Whether every packet is lost in some spans."""
    return any(early(direction.outages))


def waits_or_changes(direction: Direction) -> bool:
    """Whether how long packets take depends on when they are sent."""
    delays = any(change.delay is not None for change in direction.changes)
    return delays or any(closures(direction))


def gaps(direction: Direction) -> list[Window]:
    """A direction's outages, and when its packets wait for a contact, within the time that is looked at."""
    latest = max(line_times(direction), default=0)
    spans = itertools.chain(early(direction.outages), closures(direction))
    return [span for span in spans if span.end <= latest]


def early(spans: Callable[[Duration], Iterator[Window]]) -> Iterator[Window]:
    """The first of a direction's spans: as many as have the boundaries that are looked at."""
    return itertools.islice(spans(NEVER), MOST_BOUNDARIES)


def closures(direction: Direction) -> Iterator[Window]:
    """The first spans in which packets are kept for a contact; those that come after the last one are kept for ever."""
    return (span for span in early(direction.closures) if span.end < NEVER)


def longest_closed_ns(direction: Direction) -> int:
    """Longest time for which packets are kept, of those that end."""
    return max((span.length.ns for span in closures(direction)), default=0)
