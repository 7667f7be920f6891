"""How a video was played."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.programs.measurement import PlayedVideo


@measure
def _video(finished: FinishedRun) -> Mapping[str, Any]:
    played = finished.measured.video
    if played is None:
        return {}
    if not played.segments:
        waited = -played.ladder_mbit[-1] * played.end_s
        nothing = {"video_played_share": 0.0, "video_loaded_share": 0.0}
        return {"video_stalls": 0, "video_qoe_index": waited, **nothing}
    rates = [played.ladder_mbit[segment.rung] for segment in played.segments]
    changes = [after - before for before, after in pairwise(rates)]
    switches = [abs(change) for change in changes if change]
    stalled_s = math.fsum(played.stalls_s)
    shown_s = None if played.start_s is None else played.end_s - played.start_s
    return {
        "video_start_s": played.start_s,
        "video_stalls": len(played.stalls_s),
        "video_stalled_s": stalled_s,
        "video_stalled_share": stalled_s / shown_s if shown_s else None,
        "video_bitrate_mbit": fmean(rates),
        "video_up_switches": sum(change > 0 for change in changes),
        "video_down_switches": sum(change < 0 for change in changes),
        "video_switched_mbit": fmean(switches) if switches else 0.0,
        "video_buffer_s": fmean(segment.buffer_s for segment in played.segments),
        "video_throughput_mbit": fmean(segment.mbit for segment in played.segments),
        # The client adds up what it plays between its requests.
        "video_played_share": round(played.played_s / played.duration_s, 9),
        "video_loaded_share": len(rates) / played.count,
        "video_qoe_index": _linear_qoe(played, rates, stalled_s),
        "video_rungs": tuple(segment.rung for segment in played.segments),
    }


def _linear_qoe(played: PlayedVideo, rates: Sequence[float], stalled_s: float) -> float:
    """Equation 5 of Yin and others, with their weights: a second without a picture costs the highest rate."""
    start_s = played.end_s if played.start_s is None else played.start_s
    changed = math.fsum(abs(after - before) for before, after in pairwise(rates))
    waited = played.ladder_mbit[-1] * (stalled_s + start_s)
    return (math.fsum(rates) - changed - waited) / len(rates)
