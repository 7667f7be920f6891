"""Of live video: its latency over time, and what was buffered, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

from headway.diagnosis.playback import Playback

Moment = tuple[float, float]
"""Seconds from the session's start, and seconds of latency or of video."""


def latencies(playback: Playback) -> Iterator[Moment]:
    """Latency from when the picture appeared, at each change of the rate and at the end."""
    yield from ((pace.at_s, pace.latency_s) for pace in playback.paces)
    if playback.paces:
        yield playback.end_s, _latency(playback, playback.end_s)


def levels(playback: Playback) -> Iterator[Moment]:
    """What is buffered when a chunk comes or the rate changes, and right after that, and at the end."""
    came_s = playback.source_s or 0.0
    changes = [(pace.at_s, 0.0) for pace in playback.paces]
    for at_s, more_s in sorted([*_arrivals(playback), *changes, (playback.end_s, 0.0)]):
        seen_s = at_s - _latency(playback, at_s)
        for received_s in (came_s, came_s + more_s):
            yield at_s, max(received_s - seen_s, 0.0)
        came_s += more_s


def _arrivals(playback: Playback) -> Iterator[Moment]:
    """When chunks came, and what each of them plays."""
    for one in playback.segments:
        chunk_s = (one.plays_s or playback.segment_s) / max(len(one.chunks_s), 1)
        yield from ((came_s, chunk_s) for came_s in one.chunks_s)


def _latency(playback: Playback, at_s: float) -> float:
    """At a moment; before the picture appeared, that of the picture which is to come first."""
    before = [pace for pace in playback.paces if pace.at_s <= at_s]
    if not before:
        first = playback.paces[0] if playback.paces else None
        return first.latency_s - (first.at_s - at_s) if first else at_s
    pace = before[-1]
    return pace.latency_s + (at_s - pace.at_s) * (1 - pace.rate)
