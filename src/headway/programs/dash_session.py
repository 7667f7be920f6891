"""A session of dash.js, read from what it tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_text
from headway.guest.loadfiles import LOAD_FILE, SESSION_FILE
from headway.programs.base import Flow
from headway.programs.measurement import (
    Measurement,
    PlayedPace,
    PlayedSegment,
    PlayedStall,
    PlayedVideo,
)
from headway.study.host import Protocol
from headway.study.video import Video

Event = dict[str, Any]
_SPOKEN = {Protocol.H1: "http/1.1", Protocol.H2: "h2", Protocol.H3: "h3"}
_MS = 1e-3


class _UntoldError(Exception):
    """The page did not tell of something that must have happened."""


def played_session(name: str, flow: Flow, directory: Path) -> Measurement:
    """What a session measured, from what its page told.

    Args:
        name: of the player.
        flow: what it was asked to do.
        directory: of the run.
    """
    if not (directory / LOAD_FILE).exists():
        return Measurement(error=f"{name} reported nothing about the video")
    events = _events(directory / SESSION_FILE)
    broken = json.loads(read_text(directory / LOAD_FILE))["error"]
    if error := broken or _error(events, flow):
        return Measurement(error=f"{name}: {error}{_got_to(events)}")
    assert isinstance(flow.workload, Video)
    try:
        fetched = list(_fetched(events, flow.workload))
    except _UntoldError as untold:
        return Measurement(error=f"{name}: {untold}{_got_to(events)}")
    resources = [event for event in events if event["what"] == "resource"]
    first = resources[0] if resources else {}
    begin = next((event for event in events if event["what"] == "begin"), {})
    return Measurement(
        began_unix_s=_seconds(begin.get("unix_ms")),
        connect_s=_seconds(first.get("connect_ms")),
        tls_s=_seconds(first.get("secured_ms")),
        ttfb_s=_seconds(first.get("first_byte_ms")),
        total_s=max((event["end_ms"] * _MS for event in resources), default=None),
        # Sound, the MPD, initialisations and what came of abandoned segments are bodies, too. A segment that is wanted
        # again may be in the browser's cache.
        bytes=sum(event["bytes"] for event in resources if not event["is_cached"])
        if resources
        else None,
        video=_played(events, fetched, flow.workload),
    )


def _events(file: Path) -> list[Event]:
    if not file.exists():
        return []
    events = [json.loads(line) for line in read_text(file).splitlines()]
    # dash.js may go back a little at the end, and tell of that.
    ends = next((place for place, event in enumerate(events, 1) if event["what"] == "end"), None)
    return events[:ends]


def _error(events: Sequence[Event], flow: Flow) -> str | None:
    """What is wrong with a session that came to its end."""
    end = next((event for event in events if event["what"] == "end"), None)
    if end is None:
        return "it did not tell of the session's end"
    if end["why"] == "error":
        return str(end["error"]) or f"error {end['code']}"
    wanted = _SPOKEN[flow.protocol]
    others = (
        values
        for values in events
        if values["what"] == "resource" and values["protocol"] not in ("", wanted)
    )
    if (other := next(others, None)) is not None:
        return f"{other['url']} was loaded over {other['protocol']} instead of {wanted}"
    return None


def _got_to(events: Sequence[Event]) -> str:
    """How far a session came that failed, as the end of a sentence."""
    loaded = [event for event in events if event["what"] == "loaded" and not event["error"]]
    if not loaded:
        return ""
    return (
        f" ({len(loaded)} segments had come by then, the last at {loaded[-1]['at_ms'] * _MS:.3f} s)"
    )


def _played(events: Sequence[Event], fetched: Sequence[PlayedSegment], video: Video) -> PlayedVideo:
    (end,) = (event for event in events if event["what"] == "end")
    end_s = end["at_ms"] * _MS
    begin = next((event for event in events if event["what"] == "begin"), {})
    source_s = _seconds(begin.get("source_ms"))
    starts = (event["at_ms"] * _MS for event in events if event["what"] == "playing")
    return PlayedVideo(
        ladder_mbit=tuple(rate.mbit for rate in video.ladder),
        lengths_s=tuple(length.s for length in video.lengths),
        start_s=next(starts, None),
        end_s=end_s,
        played_s=end["played_s"],
        segments=tuple(fetched),
        stalls=tuple(_stalls(events, end_s)),
        source_s=source_s,
        paces=() if source_s is None else tuple(_paces(events, source_s)),
    )


def _paces(events: Sequence[Event], source_s: float) -> Iterator[PlayedPace]:
    """Changes of the rate of live video once its picture moved, and how far behind its source it was then."""
    moves = False
    for event in events:
        what = event["what"]
        if what == "playing" or (moves and what in ("waiting", "ratechange")):
            moves = what != "waiting"
            at_s = event["at_ms"] * _MS
            rate = event["rate"] if moves else 0.0
            yield PlayedPace(at_s, at_s - source_s - event["place_s"], rate)


def _stalls(events: Sequence[Event], end_s: float) -> Iterator[PlayedStall]:
    """How long the picture stood still each time, once it had moved; the last may last to the end."""
    has_moved, since_s = False, None
    for event in events:
        if event["what"] == "playing":
            has_moved = True
            if since_s is not None:
                yield PlayedStall(since_s, event["at_ms"] * _MS - since_s)
            since_s = None
        elif event["what"] == "waiting" and has_moved and since_s is None:
            since_s = event["at_ms"] * _MS
    if since_s is not None and since_s < end_s:
        yield PlayedStall(since_s, end_s - since_s)


def _fetched(events: Sequence[Event], video: Video) -> Iterator[PlayedSegment]:
    """The segments that came, in their order."""
    asked: dict[str, Event] = {}
    came: dict[str, list[Event]] = {}
    for place, event in enumerate(events):
        if event["what"] == "request":
            asked[event["url"]] = event
            came[event["url"]] = []
        elif event["what"] == "chunk" and event["url"] in came:
            came[event["url"]].append(event)
        elif event["what"] == "loaded" and not event["error"]:
            if (request := asked.get(event["url"])) is None:
                raise _UntoldError(f"it did not tell when it asked for {event['url']}")
            timing = _timing(events, place, request)
            last_byte_s = timing["end_ms"] * _MS
            yield PlayedSegment(
                number=event["number"],
                rung=event["rung"],
                bytes=timing["bytes"],
                asked_s=timing["start_ms"] * _MS,
                first_byte_s=_seconds(timing.get("first_byte_ms")),
                last_byte_s=last_byte_s,
                buffer_s=request["buffer_s"],
                believed_mbit=_mbit(request.get("believed_kbit_s")),
                chunks_s=_chunks_s(came[event["url"]], timing["bytes"], last_byte_s, video),
            )


def _chunks_s(
    came: Sequence[Event], size: int, last_byte_s: float, video: Video
) -> tuple[float, ...]:
    """When each chunk of a segment of live video had come; several may have come together."""
    if video.live is None:
        return ()
    chunks = video.segment // video.live.chunk
    ends = [size * number // chunks for number in range(1, chunks + 1)]
    times: list[float] = []
    for event, bytes_ in zip(came, accumulate(values["bytes"] for values in came), strict=True):
        times += [event["at_ms"] * _MS for end in ends[len(times) :] if end <= bytes_]
    # It need not tell of what ends a segment.
    return (*times, *[last_byte_s] * (chunks - len(times)))


def _timing(events: Sequence[Event], place: int, request: Event) -> Event:
    """The browser's own times of a segment: they are told shortly before or after the player has it."""
    url, at_ms = request["url"], request["at_ms"]
    others = (*events[place:], *reversed(events[:place]))
    words = (values for values in others if values["what"] == "resource" and values["url"] == url)
    timing = next((values for values in words if values["end_ms"] >= at_ms), None)
    if timing is None:
        raise _UntoldError(f"the browser did not tell when {url} came")
    return timing


def _mbit(kbit_s: float | None) -> float | None:
    return None if kbit_s is None else kbit_s / 1e3


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms * _MS
