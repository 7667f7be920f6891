"""Arrivals of a page load's content, where the browser tells them late.

A browser says when it gave data to the page. Of what the page does not take yet, as a font that was preloaded, that
is long after they came. What the path carried over time tells how much had come by then, though not of what.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from headway.pages.load import PageLoad
from headway.pages.resource import Chunk

Carried = Sequence[tuple[float, float]]
"""What the path had carried to the client: milliseconds after navigation start, and bytes so far."""

_Times = dict[int, list[tuple[float, float]]]
"""By the place of a resource among those of its load: when content came, and how many bytes."""


@dataclass(order=True)
class _Unplaced:
    """Content that is not placed yet; the first in order is placed first, going back in time.

    Attributes:
        before_began_ms: from when its response began until navigation start, which is negative.
        place: of its resource among those of the load.
        told_ms: when the browser gave it to the page.
        count: bytes.
    """

    before_began_ms: float
    place: int
    told_ms: float
    count: float


def with_arrivals(load: PageLoad, carried: Carried) -> PageLoad:
    """The load with its content at the times at which the path carried it.

    Going back in time, what the path carried is given to what the browser told next: nothing comes later than the
    browser says, or before its response began. Of several that may have come, it is given to the one whose response
    began last. Headers, and what was sent again, are taken to be even over the load.
    """
    chunks = [chunk for resource in load.resources for chunk in resource.chunks]
    content = sum(chunk.encoded_bytes for chunk in chunks)
    last_ms = max((chunk.at_ms for chunk in chunks), default=0.0)
    carried = carried[: bisect_left(carried, last_ms, key=lambda pair: pair[0]) + 1]
    total = carried[-1][1] - carried[0][1] if carried else 0.0
    if not content or total <= 0:
        return load
    pairs = _placed(load, carried, min(1.0, content / total))
    resources = (
        replace(resource, chunks=_whole(pairs[at])) for at, resource in enumerate(load.resources)
    )
    return replace(load, resources=tuple(resources))


def _placed(load: PageLoad, carried: Carried, share: float) -> _Times:
    """When content came, if this share of what the path carried is content."""
    unplaced_chunks = sorted(
        (
            _Unplaced(-(resource.response_start_ms or 0.0), place, chunk.at_ms, chunk.encoded_bytes)
            for place, resource in enumerate(load.resources)
            for chunk in resource.chunks
        ),
        key=lambda unplaced: unplaced.told_ms,
    )
    pairs: _Times = defaultdict(list)
    waiting: list[_Unplaced] = []
    for (from_ms, before), (until_ms, after) in reversed(list(pairwise(carried))):
        while unplaced_chunks and unplaced_chunks[-1].told_ms > from_ms:
            heapq.heappush(waiting, unplaced_chunks.pop())
        _place(waiting, until_ms, (after - before) * share, pairs)
    for chunk in (*waiting, *unplaced_chunks):
        pairs[chunk.place].append((chunk.told_ms, chunk.count))
    return pairs


def _place(waiting: list[_Unplaced], until_ms: float, room: float, times: _Times) -> None:
    """Give content to what came in a span of time that ends then."""
    while waiting and room > 0:
        unplaced = waiting[0]
        if -unplaced.before_began_ms >= until_ms:
            # It cannot have come earlier than it was told: more than the path carried, by the grain of either.
            times[unplaced.place].append((unplaced.told_ms, unplaced.count))
            heapq.heappop(waiting)
            continue
        count = min(room, unplaced.count)
        times[unplaced.place].append((min(unplaced.told_ms, until_ms), count))
        room -= count
        unplaced.count -= count
        if not unplaced.count:
            heapq.heappop(waiting)


def _whole(times: list[tuple[float, float]]) -> tuple[Chunk, ...]:
    """Chunks of whole bytes in order of time, which add up to the same."""
    chunks: list[Chunk] = []
    so_far, given = 0.0, 0
    for at_ms, count in sorted(times):
        so_far += count
        if amount := round(so_far) - given:
            chunks.append(Chunk(at_ms, amount))
            given += amount
    return tuple(chunks)
