"""Of live video: how far behind its source the picture is at any moment."""

from __future__ import annotations

from collections.abc import Sequence

from headway.programs.measurement import PlayedPace


def latency_at(paces: Sequence[PlayedPace], at_s: float) -> float:
    """Latency at a moment; before the picture appeared, that of the picture which is to come first.

    Args:
        paces: how fast the video was played since when; one or more.
        at_s: the moment, as theirs from the session's start.
    """
    first = paces[0]
    if at_s < first.at_s:
        return first.latency_s - (first.at_s - at_s)
    pace = next(played_pace for played_pace in reversed(paces) if played_pace.at_s <= at_s)
    return pace.latency_s + (at_s - pace.at_s) * (1 - pace.rate)
