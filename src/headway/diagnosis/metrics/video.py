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
        nothing = dict.fromkeys(
            ("video_bitrate_mbit", "video_played_share", "video_loaded_share"), 0.0
        )
        return {"video_waited_share": 1.0, "video_qoe_index": waited, **nothing}
    numbers = {segment.number for segment in played.segments}
    return {
        **_waits(played),
        **_switches(played),
        "video_first_segment_s": played.segments[0].last_byte_s,
        "video_bitrate_mbit": fmean(_rates(played)),
        "video_buffer_s": fmean(segment.buffer_s for segment in played.segments),
        "video_throughput_mbit": fmean(segment.mbit for segment in played.segments),
        # The client adds up what it plays between its requests.
        "video_played_share": round(played.played_s / played.duration_s, 9),
        "video_loaded_share": len(numbers) / len(played.lengths_s),
        "video_repeated_segments": len(played.segments) - len(numbers),
        "video_qoe_index": _linear_qoe(played),
        "video_rungs": tuple(segment.rung for segment in played.segments),
    }


def _rates(played: PlayedVideo) -> list[float]:
    return [played.ladder_mbit[segment.rung] for segment in played.segments]


def _kept_rates(played: PlayedVideo) -> list[float]:
    """Of the segments in the video's order: one that is fetched again takes the place of the first."""
    kept = {segment.number: segment.rung for segment in played.segments}
    return [played.ladder_mbit[kept[number]] for number in sorted(kept)]


def _waits(played: PlayedVideo) -> dict[str, Any]:
    """When there was no picture, or none that moved."""
    shown_s = None if played.start_s is None else played.end_s - played.start_s
    start_s = played.end_s if played.start_s is None else played.start_s
    return {
        "video_start_s": played.start_s,
        "video_stalls": len(played.stalls),
        "video_stalled_s": played.stalled_s,
        "video_stalled_share": played.stalled_s / shown_s if shown_s else None,
        "video_stall_rate": len(played.stalls) / played.played_s if played.played_s else None,
        "video_waited_share": (start_s + played.stalled_s) / played.end_s,
    }


def _switches(played: PlayedVideo) -> dict[str, Any]:
    changes = [after - before for before, after in pairwise(_kept_rates(played))]
    ups = [change for change in changes if change > 0]
    downs = [-change for change in changes if change < 0]
    return {
        "video_up_switches": len(ups),
        "video_down_switches": len(downs),
        "video_up_mbit": _mean(ups),
        "video_down_mbit": _mean(downs),
        "video_switched_mbit": _mean(ups + downs),
    }


def _mean(sizes: Sequence[float]) -> float:
    return fmean(sizes) if sizes else 0.0


def _linear_qoe(played: PlayedVideo) -> float:
    """Equation 5 of Yin and others, with their weights: a second without a picture costs the highest rate."""
    rates = _kept_rates(played)
    start_s = played.end_s if played.start_s is None else played.start_s
    changed = math.fsum(abs(after - before) for before, after in pairwise(rates))
    waited = played.ladder_mbit[-1] * (played.stalled_s + start_s)
    return (math.fsum(rates) - changed - waited) / len(rates)
