"""Columns of videos that are played; the client's player measures them."""

from __future__ import annotations

from typing import Any

from headway.columns.column import (
    HIGHER_LOWER,
    LOWER_HIGHER,
    Better,
    Columns,
    Needs,
    Of,
    column,
    metric,
)


def _of_videos(meaning: str, label: str, **how: Any) -> Any:
    return metric(meaning, label, of=Of.VIDEOS, **how)


class VideoSession(Columns):
    """How a video was played; null without one."""

    video_start_s: float | None = _of_videos(
        "Of videos, as all that follow: from the start of the session, lookups included, until the picture appeared; null if the viewer left before.",
        "start-up delay of the video",
    )
    video_first_segment_s: float | None = _of_videos(
        "From the session's start until the first segment had come: the playback start-up delay (PSD) of Perna and others "
        "(2022). The picture may need more of them.",
        "time to the video's first segment",
    )
    video_stalls: float | None = _of_videos(
        "How often the picture stood still after that, because the buffer was empty.",
        "stalls of the video",
        words=("fewer", "more"),
    )
    video_stalled_s: float | None = _of_videos(
        "How long it did, all stalls together. The time before the picture appeared is no part of it: `video_start_s` is, and `video_qoe_index` counts both.",
        "stalled time of the video",
    )
    video_stalled_share: float | None = _of_videos(
        "`video_stalled_s` as a part of the time from the picture's appearance to the session's end.",
        "stalled share of the video",
        words=LOWER_HIGHER,
    )
    video_stall_rate: float | None = _of_videos(
        "`video_stalls` for each second that was played (Kakhki and others 2017); null if none was.",
        "stalls of the video per playing second",
        words=LOWER_HIGHER,
        unit="1/s",
    )
    video_waited_share: float | None = _of_videos(
        "Time without a moving picture, `video_start_s` and `video_stalled_s`, as a part of the whole session; 1 if the picture never appeared.",
        "waited share of the video",
        words=LOWER_HIGHER,
    )
    video_bitrate_mbit: float | None = _of_videos(
        "Mean rate of the fetched segments, by their place in the ladder, Mbit/s; 0 if none came.",
        "bitrate of the video",
        better=Better.MORE,
        words=HIGHER_LOWER,
    )
    video_up_switches: float | None = _of_videos(
        "How often a segment had a higher rate than the one before it in the video. If it was fetched twice, the last fetch counts.",
        "switches of the video to a higher rate",
        words=("fewer", "more"),
    )
    video_down_switches: float | None = _of_videos(
        "How often it had a lower one.",
        "switches of the video to a lower rate",
        words=("fewer", "more"),
    )
    video_switched_mbit: float | None = _of_videos(
        "Mean size of these switches, Mbit/s; 0 without any.",
        "size of the video's switches",
        words=LOWER_HIGHER,
    )
    video_up_mbit: float | None = _of_videos(
        "Mean size of those to a higher rate, Mbit/s; 0 without any.",
        "size of the video's switches to a higher rate",
        words=LOWER_HIGHER,
    )
    video_down_mbit: float | None = _of_videos(
        "Mean size of those to a lower rate, Mbit/s; 0 without any.",
        "size of the video's switches to a lower rate",
        words=LOWER_HIGHER,
    )
    video_buffer_s: float | None = _of_videos(
        "What was buffered when a segment was requested, the mean over the segments.",
        "buffer of the video",
        better=Better.MORE,
        words=("larger", "smaller"),
    )
    video_throughput_mbit: float | None = _of_videos(
        "What the player measured: a segment's bits over the time from its request to its last byte, the mean over the "
        "segments, Mbit/s.",
        "throughput of the video's segments",
        better=Better.MORE,
        words=HIGHER_LOWER,
    )
    video_played_share: float | None = _of_videos(
        "What was played, as a part of the video.",
        "played share of the video",
        better=Better.MORE,
        words=("larger", "smaller"),
    )
    video_loaded_share: float | None = _of_videos(
        "What was fetched, as a part of the video; a segment that was fetched twice counts once.",
        "fetched share of the video",
        better=Better.MORE,
        words=("larger", "smaller"),
    )
    video_repeated_segments: float | None = _of_videos(
        "How many segments were fetched although their number had been fetched before, in whichever quality.",
        "repeated segments of the video",
        words=("fewer", "more"),
    )
    video_latency_s: float | None = _of_videos(
        "Of live videos, as the three that follow: the live latency, from when the source made a picture until it was "
        "seen, the mean over the time in which the picture moved.",
        "live latency of the video",
        needs=Needs.LIVE,
        words=LOWER_HIGHER,
    )
    video_latency_worst_s: float | None = _of_videos(
        "The greatest of these latencies.",
        "greatest live latency of the video",
        needs=Needs.LIVE,
        words=LOWER_HIGHER,
    )
    video_rate_changed_share: float | None = _of_videos(
        "The part of that time in which the rate of playback differed from 1 by more than 1 %.",
        "time of the video at another rate of playback",
        needs=Needs.LIVE,
        words=LOWER_HIGHER,
    )
    video_chunk_delay_s: float | None = _of_videos(
        "From when the source had made a chunk until all of it had come, the mean over the chunks made after the picture "
        "had appeared; null without any.",
        "delay of the video's chunks",
        needs=Needs.LIVE,
        words=LOWER_HIGHER,
    )
    video_qoe_index: float | None = column(
        "Linear quality of experience for each segment, by its last fetch (Yin and others, SIGCOMM 2015), in "
        "Mbit/s: the rates, less their changes, less the ladder's highest rate for each second of stalls and "
        "of the start-up delay. It may be negative, so it is no metric."
    )
    video_rungs: tuple[int, ...] = column(
        "The rung of every fetched segment, from 0, the lowest; empty without a video.", default=()
    )
