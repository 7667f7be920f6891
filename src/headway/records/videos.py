"""Videos that compete with other flows: what became of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from headway.columns.record import FlowRecord
from headway.diagnosis.fairness import jain


def videos_together(flows: Sequence[FlowRecord]) -> dict[str, Any]:
    """Columns of the flows that played videos; those in the background do not count.

    A video of which nothing came has the rate 0, and stands for its contender like any other.
    """
    played = [
        (flow, flow.video_bitrate_mbit or 0.0)
        for flow in flows
        if flow.video_loaded_share is not None and not flow.background
    ]
    if not played:
        return {}
    rates = [mbit for _, mbit in played]
    return {
        "videos_bitrate_mbit": fmean(rates),
        "videos_worst_mbit": min(rates),
        "videos_first_ratio": _first_ratio(played),
        "videos_jain_index": jain(rates) if len(rates) > 1 and any(rates) else None,
        "videos_start_s": _start_s([flow.video_start_s for flow, _ in played]),
        "videos_stalled_s": math.fsum(flow.video_stalled_s or 0.0 for flow, _ in played),
    }


def _start_s(starts: Sequence[float | None]) -> float | None:
    """The mean; None if one never began."""
    known = [start for start in starts if start is not None]
    return fmean(known) if len(known) == len(starts) else None


def _first_ratio(played: Sequence[tuple[FlowRecord, float]]) -> float | None:
    """Of the first name over the others; of the first video if all have one name; None if nothing of those came."""
    named = played[0][0].named
    first = [mbit for flow, mbit in played if flow.named == named]
    others = [mbit for flow, mbit in played if flow.named != named]
    if not others:
        first, others = first[:1], first[1:]
    return fmean(first) / fmean(others) if any(others) else None
