"""A user's own video: an MPD and the files that it names, as they lie in a directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.cache import digest
from headway.study.units import Duration, Rate


@dataclass(frozen=True)
class FilmTrack:
    """A quality of a film's pictures or of its sound: a ``Representation`` of its MPD.

    Attributes:
        name: its ``id``.
        rate: its ``bandwidth``.
        mime: the kind of its files, as ``video/mp4``.
        codecs: what it takes to decode it (RFC 6381); empty if the MPD does not say.
        picture: width and height, as ``1280x720``; None if the MPD does not say, or of sound.
        initialization: the file with which decoding begins; None if there is none.
        segments: files, from the first on.
        sizes: of the segments, bytes.
    """

    name: str
    rate: Rate
    mime: str
    codecs: str
    picture: str | None
    initialization: str | None
    segments: tuple[str, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Film:
    """An MPD of a video on demand, read, and its files. Names of files are relative to its directory.

    Attributes:
        file: the MPD.
        lengths: what each segment plays, in all qualities of the picture.
        rungs: qualities of the picture, from the lowest rate up.
        sounds: of sound; none of a silent film.
        files: all that a server has of it, and how many bytes each has.
        key: equal for equal MPDs whose files have equal names and sizes, on any machine.
    """

    file: Path
    lengths: tuple[Duration, ...]
    rungs: tuple[FilmTrack, ...]
    sounds: tuple[FilmTrack, ...]
    files: tuple[tuple[str, int], ...]
    key: str

    @property
    def place(self) -> str:
        """Name of the directory in which a server has it."""
        return f"film-{self.key}"

    @property
    def manifest(self) -> str:
        """Name of the MPD there."""
        return self.file.name

    @property
    def names(self) -> tuple[str, ...]:
        """Of its qualities."""
        return tuple(rung.name for rung in self.rungs)

    @property
    def state_key(self) -> str:
        """Another one when a file has been written anew, though its size is the same; of this machine."""
        times = (str((self.file.parent / name).stat().st_mtime_ns) for name, _ in self.files)
        return digest(self.key, *times)
