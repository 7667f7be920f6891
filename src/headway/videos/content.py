"""A video's files: segments of exact sizes, and the MPD that lists them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.cache import digest
from headway.errors import WrongInputError
from headway.study.film import Film
from headway.study.units import Duration, Rate
from headway.study.video import Video
from headway.videos.boxes import BoxError, widened
from headway.videos.encode import (
    AUDIO_FRAME,
    AUDIO_HZ,
    MOST_PIXELS,
    EncodedTrack,
    Ffmpeg,
    audio_frames,
    encode_picture,
    encode_silence,
    is_picture,
    picture_bytes,
    picture_size,
    silence_bytes,
)
from headway.videos.manifest import MPD_FILE, Representation, written_mpd

_SECOND = 10**9
_MOST_BYTES = 2**32 - 1
"""Of a box, and so of a fragment's samples and what fills it."""


@dataclass(frozen=True)
class Content:
    """What a video's files are made to be.

    Attributes:
        ladder: rates of its qualities, rising.
        segment: what a segment plays.
        count: of its segments.
        audio: rate of its sound; None if it has none.
        pictures: of each quality, as ``1280x720``; None if its rate decides.
        chunk: what a chunk of a segment plays, which can be sent while the segment is made; None of video on demand.
    """

    ladder: tuple[Rate, ...]
    segment: Duration
    count: int
    audio: Rate | None = None
    pictures: tuple[str, ...] | None = None
    chunk: Duration | None = None

    @classmethod
    def of(cls, video: Video) -> Content:
        """What a study's video is."""
        chunk = video.live.chunk if video.live else None
        count, pictures = len(video.lengths), video.pictures
        return cls(video.ladder, video.segment, count, video.audio, pictures, chunk)

    @property
    def duration(self) -> Duration:
        """Of the whole video."""
        return Duration(self.segment * self.count)

    @property
    def place(self) -> str:
        """Name of the directory in which a server has it."""
        rates = (str(int(rate)) for rate in self.ladder)
        # By its name, the sound is no further quality.
        sound = () if self.audio is None else (f"audio {int(self.audio)}",)
        chunk = () if self.chunk is None else (f"chunk {self.chunk}",)
        values = (
            str(self.segment),
            str(self.count),
            *rates,
            *sound,
            *(self.pictures or ()),
            *chunk,
        )
        return f"video-{digest(*values)}"

    @property
    def manifest(self) -> str:
        """Name of the MPD there."""
        return MPD_FILE

    @property
    def shown(self) -> tuple[str, ...]:
        """Size of each quality's picture."""
        return self.pictures or tuple(map(picture_size, self.ladder))

    @property
    def sound_frames(self) -> tuple[int, int, int]:
        """Frames of a segment of sound, of the last one, and how many segments there are.

        Sound is no longer than the picture: dash.js does not always end a video that has some left.
        """
        frames = audio_frames(self.segment)
        all_frames = max(self.duration * AUDIO_HZ // (AUDIO_FRAME * _SECOND), 1)
        count = -(-all_frames // frames)
        return frames, all_frames - (count - 1) * frames, count

    @property
    def whole(self) -> str:
        """What of a quality has to have room for its picture."""
        return "segment" if self.chunk is None else "chunk"

    @property
    def chunks(self) -> int:
        """Of a segment; 1 of video on demand."""
        return 1 if self.chunk is None else self.segment // self.chunk

    @property
    def names(self) -> tuple[str, ...]:
        """Of the representations of its qualities, and of their directories."""
        return tuple(f"video-{rung}" for rung in range(len(self.ladder)))


VideoFiles = Content | Film
"""What a server has of a video as files: made for it, or a user's own."""


def files_of(video: Video) -> VideoFiles:
    """The files of a study's video."""
    return video.film or Content.of(video)


def check_content(content: Content) -> None:
    """Check that a video's files can be made.

    Raises:
        WrongInputError: they cannot; `where` is the workload's key.
    """
    for size in content.shown:
        if not is_picture(size):
            reason = (
                f"{size}: both are even and at most {MOST_PIXELS}, and no area is above 8192x4352's"
            )
            raise WrongInputError(reason, where="resolutions")
    for key, rate, length, what, needs in _wanted(content):
        has = round(rate * length / (8 * _SECOND))
        if has < needs:
            raise WrongInputError(_too_little(content, rate, has, what, needs), where=key)
        if has > _MOST_BYTES:
            reason = (
                f"{rate} is {has:,} bytes for a {content.whole}, which has at most {_MOST_BYTES:,}"
            )
            raise WrongInputError(reason, where=key)


def _wanted(content: Content) -> Iterator[tuple[str, Rate, Duration, str, int]]:
    """Of each kind of segment, or first chunk, its key, its rate, its length, what it shows, and how many bytes that takes."""
    whole = content.chunk or content.segment
    for rate, size in zip(content.ladder, content.shown, strict=True):
        yield "ladder", rate, whole, f"a picture of {size}", picture_bytes(size, whole)
    if content.audio is not None:
        for frames in content.sound_frames[:2]:
            length = Duration(frames * AUDIO_FRAME * _SECOND // AUDIO_HZ)
            yield "audio", content.audio, length, "sound", silence_bytes(frames)


def _too_little(content: Content, rate: Rate, has: int, what: str, needs: int) -> str:
    return (
        f"{rate} is {has} bytes for a {content.whole}, and {what} takes {needs};"
        f" a longer {content.whole} or a higher rate has room"
    )


class _Quality(NamedTuple):
    """A rung, or the sound.

    Attributes:
        name: of its directory.
        rate: of all its segments.
        track: of all its segments but the last.
        segments: how many there are.
        last: of the last segment, if that is shorter.
    """

    name: str
    rate: Rate
    track: EncodedTrack
    segments: int
    last: EncodedTrack | None = None

    @property
    def size(self) -> int:
        """Bytes of each of its segments."""
        return segment_bytes(self.rate, self.track)


def segment_bytes(rate: Rate, track: EncodedTrack) -> int:
    """Bytes of a segment of a rate."""
    return round(rate * track.ticks / (8 * track.timescale))


def write_content(
    content: Content, directory: Path, ffmpeg: Ffmpeg, say: Callable[[str], None] = lambda _: None
) -> None:
    """Write all files of a video into a directory.

    What its pictures do not fill of a segment, or of a chunk, is a hole in a sparse file, so it takes no space. A
    segment's chunks have equal sizes, to a byte.

    Raises:
        WrongInputError: the lowest rate is too little for a picture.
    """
    scratch = directory / ".scratch"
    scratch.mkdir()
    qualities = []
    for quality in _qualities(content, scratch, ffmpeg):
        say(f"{quality.name}: {quality.segments} segments of {quality.size:,} bytes")
        _write(content, quality, directory / quality.name)
        qualities.append(quality)
    for file in scratch.iterdir():
        file.unlink()
    scratch.rmdir()
    listed = [Representation(quality.name, quality.rate, quality.track) for quality in qualities]
    mpd = written_mpd(content.duration, listed, content.chunk)
    (directory / MPD_FILE).write_text(mpd, encoding="utf-8")


def _qualities(content: Content, scratch: Path, ffmpeg: Ffmpeg) -> Iterator[_Quality]:
    for name, rate, size in zip(content.names, content.ladder, content.shown, strict=True):
        hue = content.ladder.index(rate) / len(content.ladder)
        whole = content.chunk or content.segment
        track = encode_picture(ffmpeg, scratch, size, whole, hue, content.chunks)
        yield _Quality(name, rate, track, content.count)
    if content.audio is not None:
        yield _sound(content, content.audio, scratch, ffmpeg)


def _sound(content: Content, rate: Rate, scratch: Path, ffmpeg: Ffmpeg) -> _Quality:
    frames, of_last, count = content.sound_frames
    track = encode_silence(ffmpeg, scratch, rate, frames)
    last = encode_silence(ffmpeg, scratch, rate, of_last)
    return _Quality("audio", rate, track, count, last)


def _write(content: Content, quality: _Quality, directory: Path) -> None:
    directory.mkdir()
    (directory / "init.mp4").write_bytes(quality.track.encoded.init)
    for number in range(1, quality.segments + 1):
        is_last = number == quality.segments
        track = quality.last if quality.last and is_last else quality.track
        size = segment_bytes(quality.rate, track)
        fragments = list(track.encoded.segment(number, (number - 1) * quality.track.ticks))
        with (directory / f"{number}.m4s").open("wb") as file:
            for place, fragment in enumerate(fragments):
                start, end = (size * step // len(fragments) for step in (place, place + 1))
                file.seek(start)
                try:
                    file.write(widened(fragment, end - start))
                except BoxError:
                    reason = _no_room(content, quality, end - start, len(fragment))
                    raise reason from None
            os.truncate(file.fileno(), size)


def _no_room(content: Content, quality: _Quality, has: int, needs: int) -> WrongInputError:
    """`check_content` has refused it, unless its estimate is too low."""
    if not quality.track.width:
        text = _too_little(content, quality.rate, has, "sound", needs)
        return WrongInputError(text, where="audio")
    what = f"a picture of {quality.track.width}x{quality.track.height}"
    return WrongInputError(_too_little(content, quality.rate, has, what, needs), where="ladder")
