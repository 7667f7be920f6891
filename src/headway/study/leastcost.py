"""Ways of least cost through a graph."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Cost = tuple[int, int, int]
"""Of a way: round-trip time in ns, number of edges, and a bit for each of these.

Two ways never cost the same, and a way costs as much as the way back, so packets come back as they went.
"""
NOTHING: Cost = (0, 0, 0)

_Step = TypeVar("_Step")


def together(cost: Cost, more: Cost) -> Cost:
    """What both cost."""
    return cost[0] + more[0], cost[1] + more[1], cost[2] + more[2]


def times(cost: Cost, factor: int) -> Cost:
    """What it costs so many times."""
    return cost[0] * factor, cost[1] * factor, cost[2] * factor


def nearest_first(
    start: str, onward: Callable[[str], Iterable[tuple[Cost, str, _Step]]]
) -> Iterator[tuple[str, _Step | None]]:
    """Places by their cost from a start, each with the last step of its way, by Dijkstra's algorithm (Numerische Mathematik 1, 1959).

    Args:
        start: comes first, with None.
        onward: the steps that lead on from a place, each with its cost and where it ends.
    """
    done: set[str] = set()
    tickets = itertools.count()
    waiting: list[tuple[Cost, int, str, _Step | None]] = [(NOTHING, next(tickets), start, None)]
    while waiting:
        cost, _, here, step = heapq.heappop(waiting)
        if here in done:
            continue
        done.add(here)
        yield here, step
        for more, there, further in onward(here):
            if there not in done:
                heapq.heappush(waiting, (together(cost, more), next(tickets), there, further))
