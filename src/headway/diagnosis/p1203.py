"""Sessions as models of quality after ITU-T P.1203 read them (mode 0: what is known of a segment without its content)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headway.diagnosis.playback import Playback

P1203_FILE = "p1203.json"
_CODEC, _FRAMES_PER_S, _SCREEN = "h264", 30.0, "1920x1080"


def save_p1203(directory: Path, playback: Playback, pictures: tuple[str, ...]) -> None:
    """Write what such a model reads of a session into its directory.

    Args:
        directory: the session's.
        playback: the session.
        pictures: resolution of each quality.
    """
    text = json.dumps(_session(playback, pictures), indent=1)
    (directory / P1203_FILE).write_text(f"{text}\n", encoding="utf-8")


def _session(playback: Playback, pictures: tuple[str, ...]) -> dict[str, Any]:
    # Of a segment that was fetched again, the last one is played.
    shown = {segment.number: segment for segment in playback.segments}
    segments, start_s = [], 0.0
    for _, fetched_segment in sorted(shown.items()):
        plays_s = fetched_segment.plays_s or playback.segment_s
        segments.append(
            {
                "codec": _CODEC,
                "start": round(start_s, 6),
                "duration": plays_s,
                "resolution": pictures[fetched_segment.rung],
                "bitrate": round(8e-3 * fetched_segment.bytes / plays_s, 3),
                "fps": _FRAMES_PER_S,
                "representation": fetched_segment.rung,
            }
        )
        start_s += plays_s
    return {
        "IGen": {"device": "pc", "displaySize": _SCREEN},
        "I11": {"streamId": 1, "segments": []},
        "I13": {"streamId": 1, "segments": segments},
        "I23": {"streamId": 1, "stalling": _stalling(playback)},
    }


def _stalling(playback: Playback) -> list[list[float]]:
    """Waits for the picture, where in the media it stood then, and how long: the initial one at 0."""
    if playback.start_s is None:
        return []
    waits = [[0.0, round(playback.start_s, 6)]]
    waited_s = playback.start_s
    for stall in playback.stalls:
        waits.append([round(stall.at_s - waited_s, 6), round(stall.lasted_s, 6)])
        waited_s += stall.lasted_s
    return waits
