"""Playback of a video."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
        **_live(played),
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


_AS_RECORDED = 0.01
"""A rate of playback that differs less from 1 is taken for it."""


def _live(played: PlayedVideo) -> dict[str, Any]:
    """How far behind its source live video was seen; nothing of other video."""
    ends = [*(pace.at_s for pace in played.paces[1:]), played.end_s]
    moving = [
        (end_s - pace.at_s, pace)
        for pace, end_s in zip(played.paces, ends, strict=False)
        if pace.rate
    ]
    shown_s = math.fsum(lasted_s for lasted_s, _ in moving)
    if not shown_s:
        return {}
    # Latency changes evenly from one change of the rate to the next.
    borders = [
        (pace.latency_s, pace.latency_s + lasted_s * (1 - pace.rate)) for lasted_s, pace in moving
    ]
    areas = [lasted_s * fmean(two) for (lasted_s, _), two in zip(moving, borders, strict=True)]
    changed = [lasted_s for lasted_s, pace in moving if abs(pace.rate - 1) > _AS_RECORDED]
    delays = list(_chunk_delays(played))
    return {
        "video_latency_s": math.fsum(areas) / shown_s,
        "video_latency_worst_s": max(map(max, borders)),
        "video_rate_changed_share": math.fsum(changed) / shown_s,
        "video_chunk_delay_s": fmean(delays) if delays else None,
    }


def _chunk_delays(played: PlayedVideo) -> Iterator[float]:
    """Of the chunks that were made after the picture had appeared."""
    begins_s = [played.source_s or 0.0]
    for length_s in played.lengths_s:
        begins_s.append(begins_s[-1] + length_s)
    for segment in played.segments:
        chunk_s = played.lengths_s[segment.number] / max(len(segment.chunks_s), 1)
        for number, came_s in enumerate(segment.chunks_s, start=1):
            made_s = begins_s[segment.number] + number * chunk_s
            if played.start_s is not None and made_s >= played.start_s:
                yield came_s - made_s


def _mean(sizes: Sequence[float]) -> float:
    return fmean(sizes) if sizes else 0.0


def _linear_qoe(played: PlayedVideo) -> float:
    """Equation 5 of Yin and others, with their weights: a second without a picture costs the highest rate."""
    rates = _kept_rates(played)
    start_s = played.end_s if played.start_s is None else played.start_s
    changed = math.fsum(abs(after - before) for before, after in pairwise(rates))
    waited = played.ladder_mbit[-1] * (played.stalled_s + start_s)
    return (math.fsum(rates) - changed - waited) / len(rates)
