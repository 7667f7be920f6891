"""Of live video: its latency over time, and what was buffered, chunk by chunk."""

from __future__ import annotations

import math
from collections.abc import Iterator

from headway.diagnosis.livelatency import latency_at
from headway.diagnosis.playback import Playback

Moment = tuple[float, float]
"""Seconds from the session's start, and seconds of latency or of video."""


def latencies(playback: Playback) -> Iterator[Moment]:
    """Latency from when the picture appeared, at each change of the rate and at the end."""
    yield from ((pace.at_s, pace.latency_s) for pace in playback.paces)
    if playback.paces:
        yield playback.end_s, latency_at(playback.paces, playback.end_s)


def levels(playback: Playback) -> Iterator[Moment]:
    """What is buffered when a chunk comes or the rate changes, and right after that, and at the end; of what was seen."""
    has_s = -math.inf
    others_s = [*(pace.at_s for pace in playback.paces), playback.end_s]
    for at_s, more_s in sorted([*_arrivals(playback), *((at_s, has_s) for at_s in others_s)]):
        seen_s = at_s - latency_at(playback.paces, at_s)
        # What comes in place of another adds nothing.
        before_s, has_s = has_s, max(has_s, more_s)
        for made_s in (before_s, has_s):
            yield at_s, max(made_s - seen_s, 0.0)


def _arrivals(playback: Playback) -> Iterator[Moment]:
    """When chunks came, and until when the source made them: a viewer may skip segments, the first ones, too."""
    for segment in playback.segments:
        begins_s = (playback.source_s or 0.0) + segment.number * playback.segment_s
        # A player that does not tell of chunks has all of them at the end.
        came_s = segment.chunks_s or (segment.last_byte_s,)
        chunk_s = (segment.plays_s or playback.segment_s) / len(came_s)
        for number, at_s in enumerate(came_s, start=1):
            yield at_s, begins_s + number * chunk_s
