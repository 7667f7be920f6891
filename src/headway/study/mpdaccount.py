"""An account of an MPD and the files beside it, whether Headway can play it or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from xml.etree.ElementTree import Element

from headway.errors import WrongInputError
from headway.foreign.numbers import whole_number
from headway.foreign.shown import printable
from headway.study.mpd import film_at
from headway.study.mpddocument import read_mpd_document
from headway.study.mpdscope import MpdScope, children
from headway.study.mpdsegments import segments_of
from headway.study.mpdtimes import PeriodSpan, UnreadableMpdError, period_spans

_COMMENT = re.compile(rb"<!--(.{1,200}?)-->", re.DOTALL)
_LONGEST = 80


@dataclass(frozen=True)
class MpdTrack:
    """A Representation.

    Attributes:
        name: its ``id``; empty if it has none.
        kind: ``video``, ``audio``, ``text`` or what else it says; empty if it does not.
        bit_per_s: its ``bandwidth``; None if it says none.
        picture: as ``1280x720``; empty if it does not say.
        codecs: as it says; empty if it does not.
        segments: how many it has in its period; None if that cannot be told.
        seconds: that they play.
        size_bytes: of its files that are there, initialisation included.
        missing: of its files.
    """

    name: str
    kind: str
    bit_per_s: int | None
    picture: str
    codecs: str
    segments: int | None
    seconds: float
    size_bytes: int
    missing: int


@dataclass(frozen=True)
class MpdAccount:
    """Facts about an MPD.

    Attributes:
        maker: the program, as far as a comment or its information says it; empty if they do not.
        title: what the video is called; empty if the MPD does not say.
        is_live: whether it is of type dynamic.
        periods: how many there are.
        seconds: of the presentation; None if the MPD does not say.
        tracks: every Representation of every period.
        lacks: why Headway cannot play it; empty if it can.
    """

    maker: str
    title: str
    is_live: bool
    periods: int
    seconds: float | None
    tracks: tuple[MpdTrack, ...]
    lacks: str

    @property
    def segments(self) -> int:
        """Of all tracks."""
        return sum(track.segments or 0 for track in self.tracks)

    @property
    def size_bytes(self) -> int:
        """Of all files of tracks that are there."""
        return sum(track.size_bytes for track in self.tracks)

    @property
    def missing(self) -> int:
        """Files of tracks that are not there."""
        return sum(track.missing for track in self.tracks)


def read_mpd_account(file: Path) -> MpdAccount:
    """What an MPD holds.

    Raises:
        WrongInputError: it cannot be read, or is no MPD.
    """
    data, root = read_mpd_document(file)
    periods = list(children(root, "Period"))
    try:
        spans: tuple[PeriodSpan | None, ...] = period_spans(
            root.attrib, [element.attrib for element in periods]
        )
    except UnreadableMpdError:
        spans = (None,) * len(periods)
    maker, title = _information(data, root)
    return MpdAccount(
        maker=maker,
        title=title,
        is_live=root.get("type") == "dynamic",
        periods=len(periods),
        seconds=_presentation_s(spans),
        tracks=tuple(
            track
            for period, span in zip(periods, spans, strict=True)
            for track in _tracks(file, root, period, span)
        ),
        lacks=_lacks(file),
    )


def _lacks(file: Path) -> str:
    try:
        film_at(str(file))
    except WrongInputError as error:
        return error.message
    return ""


def _presentation_s(spans: tuple[PeriodSpan | None, ...]) -> float | None:
    last = spans[-1] if spans else None
    return None if last is None or last.length_s is None else float(last.start_s + last.length_s)


def _information(data: bytes, root: Element) -> tuple[str, str]:
    """The program that made an MPD, and the video's title."""
    comment = _COMMENT.search(data)
    maker = comment[1].decode(errors="replace") if comment else ""
    title = ""
    for information in children(root, "ProgramInformation"):
        title = next((child.text or "" for child in children(information, "Title")), title)
        source = next((child.text or "" for child in children(information, "Source")), "")
        maker = maker or source
    return _shown(maker), _shown(title)


def _tracks(
    file: Path, root: Element, period: Element, span: PeriodSpan | None
) -> Iterator[MpdTrack]:
    for group in children(period, "AdaptationSet"):
        for child in children(group, "Representation"):
            scope: MpdScope | None = MpdScope()
            for element in (root, period, group, child):
                try:
                    scope = scope.within(element) if scope else None
                except UnreadableMpdError:
                    scope = None
            yield _track(file, scope, {**group.attrib, **child.attrib}, span)


def _track(
    file: Path, scope: MpdScope | None, attributes: dict[str, str], span: PeriodSpan | None
) -> MpdTrack:
    names: list[str] = []
    count, length_s = None, Fraction(0)
    if scope is not None:
        try:
            segments = segments_of(scope, span.length_s if span else None)
            count, length_s = (
                len(segments),
                sum((segment.length_s for segment in segments), Fraction(0)),
            )
            names = [*filter(None, [scope.initialization]), *(segment.name for segment in segments)]
        except UnreadableMpdError:
            pass
    sizes = [_size_bytes(file.parent / name) for name in names]
    width, height = attributes.get("width", ""), attributes.get("height", "")
    return MpdTrack(
        name=_shown(attributes.get("id", "")),
        kind=_shown(
            attributes.get("contentType") or attributes.get("mimeType", "").partition("/")[0]
        ),
        bit_per_s=whole_number(attributes.get("bandwidth", "")),
        picture=f"{_shown(width)}x{_shown(height)}" if width and height else "",
        codecs=_shown(attributes.get("codecs", "")),
        segments=count,
        seconds=float(length_s),
        size_bytes=sum(size for size in sizes if size is not None),
        missing=sizes.count(None),
    )


def _size_bytes(file: Path) -> int | None:
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None


def _shown(text: str) -> str:
    return printable(" ".join(text.split()))[:_LONGEST]
