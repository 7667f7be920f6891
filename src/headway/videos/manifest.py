"""MPDs (ISO/IEC 23009-1) of videos that Headway makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headway.study.units import Duration, Rate
from headway.videos.encode import AUDIO_HZ, EncodedTrack

MPD_FILE = "video.mpd"
_PROFILE = "urn:mpeg:dash:profile:isoff-live:2011"


class Representation(NamedTuple):
    """A quality in the MPD: also the name of its files' directory."""

    name: str
    rate: Rate
    track: EncodedTrack


def written_mpd(duration: Duration, qualities: Sequence[Representation]) -> str:
    """The MPD of a video on demand."""
    pictures = [one for one in qualities if one.track.width]
    sounds = [one for one in qualities if not one.track.width]
    sets = [
        *_adaptation_set("video", pictures),
        *(_adaptation_set("audio", sounds) if sounds else ()),
    ]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="{_PROFILE}" type="static"'
            f' mediaPresentationDuration="PT{duration.s:.6f}S" minBufferTime="PT2S">',
            ' <Period id="0" start="PT0S">',
            *sets,
            " </Period>",
            "</MPD>",
            "",
        ]
    )


def _adaptation_set(kind: str, qualities: Sequence[Representation]) -> Iterable[str]:
    track = qualities[0].track
    yield (
        f'  <AdaptationSet contentType="{kind}" mimeType="{kind}/mp4" segmentAlignment="true"'
        ' startWithSAP="1">'
    )
    yield (
        f'   <SegmentTemplate timescale="{track.timescale}" duration="{track.ticks}" startNumber="1"'
        ' initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number$.m4s"/>'
    )
    for one in qualities:
        said = {"id": one.name, "bandwidth": int(one.rate), "codecs": one.track.codecs}
        if one.track.width:
            said |= {"width": one.track.width, "height": one.track.height}
        else:
            said |= {"audioSamplingRate": AUDIO_HZ}
        attributes = " ".join(f'{name}="{value}"' for name, value in said.items())
        yield f"   <Representation {attributes}/>"
    yield "  </AdaptationSet>"
