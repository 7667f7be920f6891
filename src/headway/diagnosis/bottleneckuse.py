"""Use of the bottleneck while a transfer ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headway.columns.limits import BottleneckUse
from headway.diagnosis.segment import SegmentSamples


def bottleneck_use(
    segments: Sequence[SegmentSamples], begin_s: float, end_s: float
) -> BottleneckUse:
    """Of several segments, the highest use of any, and the drops of all.

    Args:
        segments: what was sampled of them, as far as it counts.
        begin_s: when the transfer began.
        end_s: when it ended.
    """
    last = [segment.moments[-1] for segment in segments]
    queued = [segment.queue_delay_ms(begin_s, end_s) for segment in segments]
    return BottleneckUse(
        utilisation=_highest(segment.utilisation(begin_s, end_s) for segment in segments),
        queue_delay_ms=_highest(over_time.mean if over_time else None for over_time in queued),
        queue_delay_p95_ms=_highest(
            over_time.quantile(0.95) if over_time else None for over_time in queued
        ),
        queue_peak_bytes=max(
            moment.backlog_bytes for segment in segments for moment in segment.moments
        ),
        queue_drops=sum(moment.queue_drops for moment in last),
        path_drops=sum(moment.path_drops for moment in last),
    )


def _highest(values: Iterable[float | None]) -> float | None:
    """Of the sections that have a rate; None if none has."""
    return max((value for value in values if value is not None), default=None)
