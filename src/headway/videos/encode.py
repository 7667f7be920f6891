"""Pictures and silence, encoded by ffmpeg: the fragments of one segment, cheap to decode, of which all others are made."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from headway.study.units import Duration, Rate
from headway.videos.boxes import BoxError, Encoded

_PICTURES = (
    (200_000, "256x144"),
    (600_000, "320x180"),
    (800_000, "480x270"),
    (1_500_000, "640x360"),
    (2_500_000, "768x432"),
    (4_000_000, "1024x576"),
    (7_000_000, "1280x720"),
    (12_000_000, "1920x1080"),
)
"""Up to which rate a picture has which size: about those of the ladder ``perna``."""
_LARGEST = "3840x2160"
_FRAMES_PER_SECOND = 5
"""Of a picture that stands still: each more costs the browser and shows nothing."""
_TICKS_PER_FRAME = 1000
_BLOCK = 16
"""Pixels of a macroblock's side."""
MOST_PIXELS = 16_384
"""Of a picture's side."""
_MOST_BLOCKS = 139_264
"""Macroblocks of a picture at the highest level of H.264 (6.2, table A-1)."""
AUDIO_HZ, AUDIO_FRAME = 48_000, 1024
_SECOND = 10**9

Ffmpeg = Callable[[Sequence[str]], None]
"""Runs ffmpeg with these arguments."""
_USUAL = ("-nostdin", "-y", "-v", "error", "-fflags", "+bitexact")
_FRAGMENTED = (
    *("-map_metadata", "-1", "-flags", "+bitexact", "-f", "mp4"),
    *("-movflags", "empty_moov+default_base_moof", "-frag_duration"),
)
_ENDLESS_US = 2_000_000_000
"""A fragment has no end before the file's."""


@dataclass(frozen=True)
class EncodedTrack:
    """An encoded track, from which segments are made.

    Attributes:
        encoded: its initialisation, and the fragments of a segment.
        codecs: what it takes to decode it (RFC 6381).
        timescale: ticks per second.
        ticks: of a segment.
        width: of the picture, pixels; 0 of sound.
        height: of the picture; 0 of sound.
    """

    encoded: Encoded
    codecs: str
    timescale: int
    ticks: int
    width: int = 0
    height: int = 0


def picture_size(rate: Rate) -> str:
    """Width and height that a quality of a rate has, unless somebody states them."""
    return next((size for most, size in _PICTURES if rate <= most), _LARGEST)


def is_picture(size: str) -> bool:
    """Whether a picture may have a size: colours are those of two by two pixels, and H.264 has a largest one."""
    sides = [int(side) for side in size.split("x")]
    return (
        not any(side % 2 for side in sides)
        and max(sides) <= MOST_PIXELS
        and _blocks(size) <= _MOST_BLOCKS
    )


def picture_bytes(size: str, chunk: Duration) -> int:
    """Bytes that a segment's first chunk needs at most, or all of it as one; at most a fifth above what was measured."""
    blocks = _blocks(size)
    return round(790 + 0.042 * blocks + _frames(chunk) * (20 + 0.0073 * blocks))


def silence_bytes(frames: int) -> int:
    """Bytes that `encode_silence` needs at any rate, as measured: all its frames are equal."""
    return 114 + 6 * frames


def _blocks(size: str) -> int:
    width, height = (-(-int(side) // _BLOCK) for side in size.split("x"))
    return width * height


def _frames(chunk: Duration) -> int:
    """Of a picture in a chunk, or in a segment without chunks."""
    return max(round(chunk / _SECOND * _FRAMES_PER_SECOND), 1)


def encode_picture(
    ffmpeg: Ffmpeg, scratch: Path, size: str, chunk: Duration, hue: float, chunks: int = 1
) -> EncodedTrack:
    """A picture of one colour that stands still for a segment, in fragments that play a chunk each.

    Raises:
        BoxError: ffmpeg made something else.
    """
    width, height = map(int, size.split("x"))
    of_chunk = _frames(chunk)
    frames = of_chunk * chunks
    per_second = Fraction(of_chunk * _SECOND, chunk)
    # The fragment ends in front of the frame that is a chunk behind its first.
    ends_us = round((of_chunk - 0.5) / of_chunk * chunk / 1000) if chunks > 1 else _ENDLESS_US
    timescale = per_second.numerator * _TICKS_PER_FRAME
    colour = "".join(f"{round(255 * part):02x}" for part in colorsys.hsv_to_rgb(hue, 0.6, 0.8))
    shown = f"color=c=0x{colour}:s={size}:r={per_second}"
    out = scratch / "picture.mp4"
    ffmpeg(
        [
            *(*_USUAL, "-f", "lavfi", "-i", shown, "-frames:v", str(frames)),
            *("-c:v", "libx264", "-threads", "1", "-profile:v", "high", "-pix_fmt", "yuv420p"),
            *("-preset", "veryfast", "-bf", "0", "-refs", "1", "-g", str(frames)),
            *("-video_track_timescale", str(timescale), *_FRAGMENTED, str(ends_us), str(out)),
        ]
    )
    encoded = Encoded.of(out.read_bytes(), chunks)
    ticks = frames * per_second.denominator * _TICKS_PER_FRAME
    return EncodedTrack(encoded, _avc(encoded.init), timescale, ticks, width, height)


def encode_silence(ffmpeg: Ffmpeg, scratch: Path, rate: Rate, frames: int) -> EncodedTrack:
    """Silence of so many frames of AAC.

    Raises:
        BoxError: ffmpeg made something else.
    """
    silence, out = f"anullsrc=r={AUDIO_HZ}:cl=stereo", scratch / "silence.mp4"
    ffmpeg(
        [
            *(*_USUAL, "-f", "lavfi", "-i", silence, "-frames:a", str(frames)),
            *("-c:a", "aac", "-b:a", str(int(rate)), *_FRAGMENTED, str(_ENDLESS_US), str(out)),
        ]
    )
    encoded = Encoded.of(out.read_bytes())
    return EncodedTrack(encoded, "mp4a.40.2", AUDIO_HZ, frames * AUDIO_FRAME)


def audio_frames(segment: Duration) -> int:
    """Frames of AAC that a segment of sound has, so that it is no shorter than one of the picture."""
    return -(-segment * AUDIO_HZ // (_SECOND * AUDIO_FRAME))


def _avc(init: bytes) -> str:
    """The name of its profile and level, from the decoder's configuration."""
    match = re.search(rb"avcC\x01(...)", init, re.DOTALL)
    if match is None:
        raise BoxError("there is no box avcC")
    return f"avc1.{match[1].hex()}"
