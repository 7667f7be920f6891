"""Lateness of messages of streams, and how often that held a stream up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.quantile import at_share

_EARLY_S = 1e-6
"""The least lateness that counts: what a clock's reading is rounded by."""


@measure
def _streams(finished: FinishedRun) -> Mapping[str, Any]:
    streams = finished.measured.streams
    delays_ms = [
        round((came_s - made_s) * 1e3, 3)
        for stream in streams
        for made_s, came_s in stream.messages
    ]
    if not delays_ms:
        return {}
    ordered = sorted(delays_ms)
    stalls = [stall for stream in streams for stall in stalls_of(stream.messages)]
    ups_ms = sorted(round(up_s * 1e3, 3) for stream in streams for up_s in stream.ups_s)
    firsts_s = [stream.messages[0][1] - stream.asked_s for stream in streams]
    return {
        "stream_delay_mean_ms": math.fsum(delays_ms) / len(delays_ms),
        "stream_delay_p50_ms": at_share(ordered, 0.5),
        "stream_delay_p95_ms": at_share(ordered, 0.95),
        "stream_delay_p99_ms": at_share(ordered, 0.99),
        "stream_delay_max_ms": ordered[-1],
        **(_up(ups_ms) if ups_ms else {}),
        "stream_stalls": len(stalls),
        "stream_stalled_ms": round(math.fsum(end - begin for begin, end in stalls) * 1e3, 3),
        "first_message_s": math.fsum(firsts_s) / len(firsts_s),
        "stream_delays_ms": tuple(delays_ms),
    }


@measure
def _unanswered(finished: FinishedRun) -> Mapping[str, float]:
    share = finished.measured.unanswered_share
    return {} if share is None else {"unanswered_pct": 100 * share}


def _up(ordered_ms: Sequence[float]) -> Mapping[str, float]:
    """How late messages came to the server."""
    return {
        "up_delay_p50_ms": at_share(ordered_ms, 0.5),
        "up_delay_p95_ms": at_share(ordered_ms, 0.95),
        "up_delay_p99_ms": at_share(ordered_ms, 0.99),
        "up_delay_max_ms": ordered_ms[-1],
    }


def stalls_of(messages: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """When a stream stalled: from when a message was due until it came, if by then the next one was due, too.

    A message is due the stream's least delay after it was made. Stalls that overlap are one.

    Args:
        messages: when each was made and when it came, in their order, in seconds.
    """
    least_s = min(came_s - made_s for made_s, came_s in messages)
    stalls: list[tuple[float, float]] = []
    for (made_s, came_s), (next_s, _) in pairwise(messages):
        if came_s <= next_s + least_s + _EARLY_S:
            continue
        begin_s = made_s + least_s
        if stalls and begin_s <= stalls[-1][1]:
            begin_s, end_s = stalls.pop()
            came_s = max(came_s, end_s)
        stalls.append((begin_s, came_s))
    return stalls
