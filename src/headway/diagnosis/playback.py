"""A video as it was played, segment by segment, beside its path: kept for figures and for ``segments.parquet``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from headway.columns.videosegment import FetchedSegment
from headway.diagnosis.attribution import Cause, causes_within, times_by_limit
from headway.diagnosis.document import Document
from headway.diagnosis.livelatency import latency_at
from headway.diagnosis.metrics.measure import FinishedRun
from headway.diagnosis.reasons import Limit
from headway.diagnosis.transfer import TimeSpan
from headway.lab.linkrates import mean_rate_mbit, rates_towards_client
from headway.planning.deployment import ChangingWay
from headway.programs.measurement import PlayedPace, PlayedSegment, PlayedStall, PlayedVideo


@dataclass(frozen=True)
class Playback:
    """A session; moments are seconds from its start.

    Attributes:
        ladder_mbit: rates of the qualities, rising, Mbit/s.
        segment_s: what the longest segment plays.
        start_s: when the picture appeared; None if it did not.
        end_s: when the video had been played, or the viewer left.
        stalls: how often the picture stood still.
        paces: of live video, how fast it was played since when.
        source_s: of live video, when its source began with the first segment.
        rates: of the narrowest link towards the client, from each moment on, Mbit/s; none without one.
        segments: those that came, in their order.
    """

    ladder_mbit: tuple[float, ...]
    segment_s: float
    start_s: float | None
    end_s: float
    stalls: tuple[PlayedStall, ...]
    rates: tuple[tuple[float, float], ...]
    segments: tuple[FetchedSegment, ...]
    paces: tuple[PlayedPace, ...] = ()
    source_s: float | None = None


PLAYBACK = Document(Playback, "playback.json")


def playback_of(finished: FinishedRun) -> Playback | None:
    """How the video of a flow was played; None of one without a video."""
    video = finished.measured.video
    if video is None:
        return None
    rates = _rates(finished, video.end_s)
    limits = _limits(finished, video)
    seen: set[int] = set()
    segments = []
    for segment, limit in zip(video.segments, limits, strict=True):
        segments.append(_fetched(segment, video, limit, rates, repeated=segment.number in seen))
        seen.add(segment.number)
    return Playback(
        ladder_mbit=video.ladder_mbit,
        segment_s=max(video.lengths_s),
        start_s=video.start_s,
        end_s=video.end_s,
        stalls=video.stalls,
        rates=rates,
        segments=tuple(segments),
        paces=video.paces,
        source_s=video.source_s,
    )


def _rates(finished: FinishedRun, end_s: float) -> tuple[tuple[float, float], ...]:
    """The narrowest link's, on the session's clock, as far as the session goes."""
    flow, began_s = finished.flow, finished.transfer.began_s
    if isinstance(flow.way, ChangingWay):
        return ()
    legs = flow.way.segments[0].legs
    steps = rates_towards_client(legs, flow.asked.seed, flow.setting.limits.virtual)
    moved = [(at_s - began_s, mbit) for at_s, mbit in steps]
    within = [(at_s, mbit) for at_s, mbit in moved if 0 < at_s < end_s]
    before = [mbit for at_s, mbit in moved if at_s <= 0]
    return tuple([(0.0, before[-1]), *within] if before else within)


def _limits(finished: FinishedRun, video: PlayedVideo) -> list[tuple[Limit, float] | None]:
    """What held each segment back for the longest time, and for how long."""
    if not finished.segments:
        return [None] * len(video.segments)
    began_s = finished.transfer.began_s
    spans = [
        TimeSpan(began_s + (segment.first_byte_s or segment.asked_s), began_s + segment.last_byte_s)
        for segment in video.segments
    ]
    causes = causes_within(finished.segments, spans)
    return [
        _longest((segment.first_byte_s or segment.asked_s) - segment.asked_s, spent)
        for segment, spent in zip(video.segments, causes, strict=True)
    ]


def _longest(waited_s: float, spent: dict[Cause, float]) -> tuple[Limit, float]:
    times = {Limit.HANDSHAKE: waited_s} | times_by_limit(spent)
    limit = max(times, key=times.__getitem__)
    return limit, round(times[limit], 9)


def _fetched(
    played_segment: PlayedSegment,
    video: PlayedVideo,
    limit: tuple[Limit, float] | None,
    rates: tuple[tuple[float, float], ...],
    *,
    repeated: bool,
) -> FetchedSegment:
    span = TimeSpan(played_segment.asked_s, played_segment.last_byte_s)
    stalled_s = math.fsum(_common_s(span, stall) for stall in _stalls(video))
    waited_s = _common_s(span, _before_the_picture(video)) + stalled_s
    return FetchedSegment(
        number=played_segment.number,
        rung=played_segment.rung,
        plays_s=video.lengths_s[played_segment.number],
        rate_mbit=video.ladder_mbit[played_segment.rung],
        bytes=played_segment.bytes,
        asked_s=played_segment.asked_s,
        first_byte_s=played_segment.first_byte_s,
        last_byte_s=played_segment.last_byte_s,
        buffer_before_s=played_segment.buffer_s,
        buffer_after_s=_left_s(played_segment, video, span, waited_s, repeated=repeated),
        throughput_mbit=played_segment.mbit,
        believed_mbit=played_segment.believed_mbit,
        link_mbit=mean_rate_mbit(rates, played_segment.asked_s, played_segment.last_byte_s),
        limited_by=limit[0] if limit else None,
        limited_s=limit[1] if limit else None,
        stalled_s=stalled_s,
        chunks_s=played_segment.chunks_s,
        repeated=repeated,
    )


def _left_s(
    played_segment: PlayedSegment,
    video: PlayedVideo,
    span: TimeSpan,
    waited_s: float,
    *,
    repeated: bool,
) -> float:
    """What was buffered when a segment had come."""
    if played_segment.left_s is not None:
        return played_segment.left_s
    if video.source_s is not None and video.paces:
        # Live video is played while it comes, so what came of the segment may have been seen by then.
        last = max(
            other.number
            for other in video.segments
            if other.last_byte_s <= played_segment.last_byte_s
        )
        made_s = video.source_s + math.fsum(video.lengths_s[: last + 1])
        seen_s = played_segment.last_byte_s - latency_at(video.paces, played_segment.last_byte_s)
        return max(made_s - seen_s, 0.0)
    kept_s = max(played_segment.buffer_s - (span.end_s - span.begin_s - waited_s), 0.0)
    # What comes in place of another adds nothing.
    return kept_s + (0.0 if repeated else video.lengths_s[played_segment.number])


def _stalls(video: PlayedVideo) -> Iterator[TimeSpan]:
    for stall in video.stalls:
        yield TimeSpan(stall.at_s, stall.at_s + stall.lasted_s)


def _before_the_picture(video: PlayedVideo) -> TimeSpan:
    return TimeSpan(0.0, video.end_s if video.start_s is None else video.start_s)


def _common_s(time_span: TimeSpan, other: TimeSpan) -> float:
    return max(min(time_span.end_s, other.end_s) - max(time_span.begin_s, other.begin_s), 0.0)
