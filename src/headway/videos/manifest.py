"""MPDs (ISO/IEC 23009-1) of videos that Headway makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headway.study.units import Duration, Rate
from headway.videos.encode import AUDIO_HZ, EncodedTrack

MPD_FILE = "video.mpd"
_PROFILE = "urn:mpeg:dash:profile:isoff-live:2011"
SOURCE_BEGAN = "1970-01-01T00:00:00Z"
"""When the source of a live video began, in the file; who serves it says the right moment."""


class Representation(NamedTuple):
    """A quality in the MPD: also the name of its files' directory."""

    name: str
    rate: Rate
    track: EncodedTrack


def written_mpd(
    duration: Duration, qualities: Sequence[Representation], chunk: Duration | None = None
) -> str:
    """The MPD of a video on demand; with chunks, of one that is live."""
    pictures = [quality for quality in qualities if quality.track.width]
    sounds = [quality for quality in qualities if not quality.track.width]
    sets = [
        *_adaptation_set("video", pictures, chunk),
        *(_adaptation_set("audio", sounds, chunk) if sounds else ()),
    ]
    of_type = _on_demand(duration) if chunk is None else _live(duration, chunk)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="{_PROFILE}" {of_type}>',
            f' <Period id="0" start="PT0S"{_ends(duration) if chunk else ""}>',
            *sets,
            " </Period>",
            "</MPD>",
            "",
        ]
    )


def _on_demand(duration: Duration) -> str:
    return f'type="static" mediaPresentationDuration="{_span(duration)}" minBufferTime="PT2S"'


def _live(duration: Duration, chunk: Duration) -> str:
    """It never has to be read again: the source ends when it is said to. Until then all of its segments stay."""
    return (
        f'type="dynamic" availabilityStartTime="{SOURCE_BEGAN}" publishTime="{SOURCE_BEGAN}"'
        f' timeShiftBufferDepth="{_span(duration)}" mediaPresentationDuration="{_span(duration)}"'
        f' minBufferTime="{_span(chunk)}"'
    )


def _ends(duration: Duration) -> str:
    return f' duration="{_span(duration)}"'


def _span(duration: Duration) -> str:
    return f"PT{duration.s:.6f}S"


def _adaptation_set(
    kind: str, qualities: Sequence[Representation], chunk: Duration | None
) -> Iterable[str]:
    track = qualities[0].track
    early_s = 0.0 if chunk is None else track.ticks / track.timescale - chunk.s
    # ISO/IEC 23009-1, section 5.3.9.5.3: a segment can be asked for when its first chunk is there.
    early = f' availabilityTimeOffset="{early_s:.6f}" availabilityTimeComplete="false"'
    yield (
        f'  <AdaptationSet contentType="{kind}" mimeType="{kind}/mp4" segmentAlignment="true"'
        ' startWithSAP="1">'
    )
    yield (
        f'   <SegmentTemplate timescale="{track.timescale}" duration="{track.ticks}" startNumber="1"'
        ' initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number$.m4s"'
        f"{'' if chunk is None else early}/>"
    )
    for quality in qualities:
        values = {
            "id": quality.name,
            "bandwidth": int(quality.rate),
            "codecs": quality.track.codecs,
        }
        if quality.track.width:
            values |= {"width": quality.track.width, "height": quality.track.height}
        else:
            values |= {"audioSamplingRate": AUDIO_HZ}
        attributes = " ".join(f'{name}="{value}"' for name, value in values.items())
        yield f"   <Representation {attributes}/>"
    yield "  </AdaptationSet>"
