"""MPDs of users (ISO/IEC 23009-1), read: of videos on demand in one period, cut into files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

from headway.cache import digest
from headway.errors import WrongInputError
from headway.foreign.numbers import whole_number
from headway.study.film import Film, FilmTrack
from headway.study.mpddocument import read_mpd_document
from headway.study.mpdscope import MpdScope, children
from headway.study.mpdsegments import MpdSegment, segments_of
from headway.study.mpdtimes import UnreadableMpdError, period_spans
from headway.study.units import Duration, Rate

_ALIKE_S = Fraction(1, 20)
"""By how much segments of the same number may differ in length: a frame or two."""
_LINK = "{http://www.w3.org/1999/xlink}href"
_SECOND = 10**9


def film_at(file: str) -> Film:
    """The film of an MPD, with every file that it names found and measured.

    Raises:
        WrongInputError: it cannot be read, it is no MPD of such a video, or a file of it is missing.
    """
    try:
        written_ns = Path(file).stat().st_mtime_ns
    except OSError:
        written_ns = 0
    return _read(file, written_ns)


@lru_cache(maxsize=64)
def _read(file: str, written_ns: int) -> Film:
    """The film of an MPD that was written at a time; every cell and contender of a study asks for it."""
    path = Path(file)
    document = read_mpd_document(path)
    try:
        rungs, sounds, lengths = _tracks(document.root)
        sizes = {path.name: len(document.data), **dict(_sizes(path, (*rungs, *sounds)))}
    except UnreadableMpdError as error:
        raise WrongInputError(str(error), where=file) from None
    return Film(
        file=path,
        lengths=lengths,
        rungs=tuple(_measured(rung, sizes) for rung in rungs),
        sounds=tuple(_measured(sound, sizes) for sound in sounds),
        files=tuple(sizes.items()),
        key=digest(document.data, *(f"{name} {size}" for name, size in sizes.items())),
    )


def _tracks(root: Element) -> tuple[list[FilmTrack], list[FilmTrack], tuple[Duration, ...]]:
    """Qualities of the pictures, rising, those of sound, and what segments play; sizes are not known yet."""
    top, period, length_s = _only_period(root)
    pictures: list[tuple[FilmTrack, tuple[MpdSegment, ...]]] = []
    sounds: list[FilmTrack] = []
    picture_sets = 0
    for group in children(period, "AdaptationSet"):
        scope = top.within(group)
        inner = [scope.within(child) for child in children(group, "Representation")]
        kinds = {mpd_scope.kind for mpd_scope in inner}
        if kinds - {"video", "audio"}:
            other = min(kinds - {"video", "audio"}) or "an unnamed kind"
            raise UnreadableMpdError(f"has {other}; leave all but pictures and sound out")
        mpd_segments = [_track(mpd_scope, length_s) for mpd_scope in inner]
        if "audio" in kinds:
            sounds += [track for track, _ in mpd_segments]
        elif mpd_segments:
            picture_sets += 1
            pictures += mpd_segments
    if picture_sets != 1:
        reason = (
            "no pictures" if not picture_sets else f"{picture_sets} AdaptationSets with pictures"
        )
        raise UnreadableMpdError(f"has {reason}; it needs one, with a Representation for each rung")
    pictures.sort(key=lambda picture: picture[0].rate)
    _check_rungs(pictures)
    lengths = tuple(Duration(round(picture.length_s * _SECOND)) for picture in pictures[0][1])
    return [track for track, _ in pictures], sounds, lengths


def _only_period(root: Element) -> tuple[MpdScope, Element, Fraction | None]:
    """The period, what it inherits, and how long it is."""
    whole = MpdScope().within(root)
    if root.get("type", "static") != "static":
        raise UnreadableMpdError("is of a live video (type dynamic); a static one can be played")
    periods = list(children(root, "Period"))
    if len(periods) != 1:
        raise UnreadableMpdError(f"has {len(periods)} periods; a video with one can be played")
    (period,) = periods
    if _LINK in period.attrib:
        raise UnreadableMpdError("has a period in another document (xlink:href), which is not read")
    (span,) = period_spans(root.attrib, [period.attrib])
    return whole.within(period), period, span.length_s


def _track(scope: MpdScope, length_s: Fraction | None) -> tuple[FilmTrack, tuple[MpdSegment, ...]]:
    name, rate = scope.said.get("id", ""), scope.said.get("bandwidth", "")
    if not name:
        raise UnreadableMpdError("has a Representation without an id")
    bits_per_s = whole_number(rate)
    if not bits_per_s:
        raise UnreadableMpdError(f"Representation {name!r} needs a bandwidth, in bit/s")
    segments = segments_of(scope, length_s)
    if not segments:
        raise UnreadableMpdError(f"Representation {name!r} has no segments")
    width, height = scope.said.get("width", ""), scope.said.get("height", "")
    known = whole_number(width) and whole_number(height)
    track = FilmTrack(
        name=name,
        rate=Rate(bits_per_s),
        mime=scope.said.get("mimeType", ""),
        codecs=scope.said.get("codecs", ""),
        picture=f"{int(width)}x{int(height)}" if known else None,
        initialization=scope.initialization,
        segments=tuple(segment.name for segment in segments),
        sizes=(),
    )
    return track, segments


def _check_rungs(pictures: Sequence[tuple[FilmTrack, tuple[MpdSegment, ...]]]) -> None:
    """Check that a player can change between the qualities at every segment."""
    names = [track.name for track, _ in pictures]
    if len(set(names)) < len(names):
        raise UnreadableMpdError("has two Representations of the picture with the same id")
    for (low, _), (high, _) in pairwise(pictures):
        if low.rate == high.rate:
            reason = f"Representations {low.name!r} and {high.name!r} have the same bandwidth"
            raise UnreadableMpdError(f"{reason}; keep one of them")
    first, segments = pictures[0]
    for track, others in pictures[1:]:
        if len(others) != len(segments):
            reason = (
                f"{first.name!r} has {len(segments)} segments, and {track.name!r} {len(others)}"
            )
            raise UnreadableMpdError(f"{reason}; all qualities are to be cut alike")
        for number, (left, other) in enumerate(zip(segments, others, strict=True), start=1):
            if abs(left.length_s - other.length_s) > _ALIKE_S:
                reason = f"segment {number} plays {float(left.length_s):g} s in {first.name!r}"
                reason += f", and {float(other.length_s):g} s in {track.name!r}"
                raise UnreadableMpdError(f"{reason}; all qualities are to be cut alike")


def _sizes(mpd: Path, tracks: Sequence[FilmTrack]) -> Iterator[tuple[str, int]]:
    """Bytes of every file.

    Raises:
        UnreadableMpdError: one is missing.
    """
    for track in tracks:
        if (first := track.initialization) is not None:
            yield first, _size(mpd, first, f"which begins {track.name!r}")
        for number, name in enumerate(track.segments, start=1):
            yield name, _size(mpd, name, f"segment {number} of {track.name!r}")


def _measured(track: FilmTrack, sizes: Mapping[str, int]) -> FilmTrack:
    return replace(track, sizes=tuple(sizes[name] for name in track.segments))


def _size(mpd: Path, name: str, what: str) -> int:
    file = mpd.parent / name
    try:
        size = file.stat().st_size if file.is_file() else None
    except OSError as error:
        raise UnreadableMpdError(f"{name}, {what}: {error.strerror}") from None
    if size is None:
        raise UnreadableMpdError(f"there is no file {name}, {what}")
    if not size:
        raise UnreadableMpdError(f"{name}, {what}, is empty")
    return size
