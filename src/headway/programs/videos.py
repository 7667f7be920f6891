"""Videos that headway-client plays: what it is told of one, and what it tells of the session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from pydantic import BaseModel

from headway.errors import WrongInputError
from headway.programs.base import Flow
from headway.programs.measurement import PlayedPace, PlayedSegment, PlayedStall, PlayedVideo
from headway.study.film import Film
from headway.study.live import Live
from headway.study.units import Duration
from headway.study.video import QualityRule, Video


class NativeSegment(BaseModel):
    """A segment in the client's report."""

    number: int
    rung: int
    requested_s: float
    loaded_s: float
    bytes: int
    buffer_s: float
    believed_bit_s: float | None
    chunks_s: tuple[float, ...] = ()
    left_s: float | None = None


class NativeStall(BaseModel):
    """A stall in the client's report."""

    at_s: float
    lasted_s: float


class NativePace(BaseModel):
    """A change of the rate of playback in the client's report."""

    at_s: float
    latency_s: float
    rate: float


class NativeSession(BaseModel):
    """A session in the client's report."""

    started_s: float | None
    ended_s: float
    played_s: float
    segments: list[NativeSegment]
    stalls: list[NativeStall]
    paces: list[NativePace] = []


_OF_DASH_JS = (QualityRule.DYNAMIC, QualityRule.LOLP, QualityRule.L2A)


def check_scripted(video: Video) -> None:
    """Refuse what the scripted player does not do.

    Raises:
        WrongInputError: it is asked for.
    """
    if video.rule in _OF_DASH_JS:
        own = [rule for rule in QualityRule if rule not in _OF_DASH_JS]
        if video.live is not None:
            own.remove(QualityRule.BOLA)
        reason = f"rule {video.rule} is dash.js' own; headway-client has {', '.join(own)}"
        raise WrongInputError(reason, where="workload.rule")
    if video.audio is not None:
        raise WrongInputError("headway-client plays no sound; dash.js does", where="workload.audio")


def video_options(flow: Flow, video: Video, files: dict[str, str]) -> list[str]:
    """Options of the client; what the video is goes into a file."""
    name = f"/run/{flow.namespace}-video"
    files[name] = json.dumps(_told_of(flow, video))
    return [
        f"--video={name}",
        f"--rule={video.rule}",
        f"--buffer={video.buffer.s:.9f}",
        f"--start-buffer={video.first_level.s:.9f}",
        f"--watch={video.leaves.s:.9f}",
        *((f"--cmcd={session_name(flow)}",) if video.cmcd else ()),
    ]


def _told_of(flow: Flow, video: Video) -> dict[str, Any]:
    if video.live is None:
        return _of_film(film) if (film := video.film) else _of_ladder(video)
    live = {
        "chunk_s": video.live.chunk.s,
        "latency_s": video.live.latency.s,
        "catch_up": float(video.live.catch_up),
        "joins_s": _joins(flow, video, video.live).s,
    }
    values = _of_ladder(video)
    for rung in values["rungs"]:
        rung["paths"] = [f"/live/{rung['bytes'][0]}"]
    return values | {"live": live}


def _joins(flow: Flow, video: Video, live: Live) -> Duration:
    return live.joins(video.segment, f"{flow.seed} {flow.name}")


def source_of(flow: Flow, video: Video) -> float | None:
    """When the source of live video began with its first segment, in seconds from the session's start."""
    if (live := video.live) is None:
        return None
    return -Duration(live.latency + _joins(flow, video, live)).s


def _of_ladder(video: Video) -> dict[str, Any]:
    """What the client is told of a video whose segments are bodies."""
    rungs = [
        {"bit_s": float(rate), "paths": [f"/{int(size)}.bin"], "bytes": [int(size)]}
        for rate, size in zip(video.ladder, video.sizes, strict=True)
    ]
    return {"segment_s": video.segment.s, "segments": len(video.lengths), "rungs": rungs}


def _of_film(film: Film) -> dict[str, Any]:
    """What it is told of a user's own: the pictures alone."""
    rungs = [
        {
            "bit_s": float(rung.rate),
            "paths": [f"/{film.place}/{name}" for name in rung.segments],
            "bytes": rung.sizes,
        }
        for rung in film.rungs
    ]
    lengths = [length.s for length in film.lengths]
    return {"segment_s": lengths, "segments": len(lengths), "rungs": rungs}


def session_name(flow: Flow) -> str:
    """The session's name, another one for each flow of each seed."""
    return str(uuid5(NAMESPACE_OID, f"{flow.seed} {flow.name}"))


def played(
    session: NativeSession,
    video: Video,
    first_bytes_s: Sequence[float | None],
    source_s: float | None = None,
) -> PlayedVideo:
    """What the session's player tells.

    Args:
        session: its report.
        video: what it played.
        first_bytes_s: when the response to each of its requests began, in their order.
        source_s: of live video, when its source began, on the session's clock.
    """
    return PlayedVideo(
        ladder_mbit=tuple(rate.mbit for rate in video.ladder),
        lengths_s=tuple(length.s for length in video.lengths),
        start_s=session.started_s,
        end_s=session.ended_s,
        played_s=session.played_s,
        # The viewer may leave before the last response has come.
        segments=tuple(map(_segment, session.segments, first_bytes_s)),
        stalls=tuple(PlayedStall(stall.at_s, stall.lasted_s) for stall in session.stalls),
        source_s=source_s,
        paces=tuple(PlayedPace(pace.at_s, pace.latency_s, pace.rate) for pace in session.paces),
    )


def _segment(native_segment: NativeSegment, first_byte_s: float | None) -> PlayedSegment:
    return PlayedSegment(
        number=native_segment.number,
        rung=native_segment.rung,
        bytes=native_segment.bytes,
        asked_s=native_segment.requested_s,
        first_byte_s=first_byte_s,
        last_byte_s=native_segment.loaded_s,
        buffer_s=native_segment.buffer_s,
        believed_mbit=None
        if native_segment.believed_bit_s is None
        else native_segment.believed_bit_s / 1e6,
        chunks_s=native_segment.chunks_s,
        left_s=native_segment.left_s,
    )


def session_error(session: NativeSession | None, video: Video) -> str | None:
    """What is wrong with a session."""
    if session is None:
        return "its report has no session"
    for segment in session.segments:
        if segment.bytes != (wanted := video.size(segment.rung, segment.number)):
            return f"segment {segment.number}: {segment.bytes} bytes came of {wanted}"
    return None
