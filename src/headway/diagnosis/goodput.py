"""Goodput of bulk flows over time, at their receivers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from headway.programs.measurement import BulkFlow

INTERVAL_S = 0.1
"""Length of the intervals of `received_bytes`."""


def received_bytes(flows: Sequence[BulkFlow], began_s: float) -> tuple[int, ...]:
    """Bytes that all flows together got in each interval from the client's beginning to the last byte.

    A flow that starts within an interval, or is told of in others, is taken to have got its bytes
    evenly over each of its own.

    Args:
        flows: the flows.
        began_s: when the client began, on the flows' clock.
    """
    amounts: dict[int, float] = defaultdict(float)
    for flow in flows:
        for interval, amount in _shares(flow, began_s):
            amounts[interval] += amount
    last = max((interval for interval, amount in amounts.items() if amount), default=-1)
    totals = accumulate(amounts.get(interval, 0.0) for interval in range(last + 1))
    # Sums are rounded and not amounts, so that no byte is lost.
    return tuple(after - before for before, after in pairwise((0, *map(round, totals))))


def _shares(flow: BulkFlow, began_s: float) -> Iterator[tuple[int, float]]:
    """Intervals since the client began, and what a flow got in them."""
    length = flow.interval_s / INTERVAL_S
    # Nanoseconds, as of the differences of clocks, are none of an interval's.
    begin = round((flow.start_s - began_s) / INTERVAL_S, 3)
    for place, amount in enumerate(flow.bytes):
        low, high = begin + place * length, begin + (place + 1) * length
        for interval in range(int(low), int(high) + 1):
            common = min(high, interval + 1) - max(low, interval)
            if common > 0:
                yield interval, amount * common / length
