"""What elements of an MPD inherit, and the segments that follow: their files, and what each plays."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple
from xml.etree.ElementTree import Element

from headway.errors import WrongInputError
from headway.foreign.names import below
from headway.foreign.numbers import whole_number
from headway.foreign.shown import quoted

_PLAIN = re.compile(r"[A-Za-z0-9._~/+=,@-]+")
"""Names that are the same in a URL and in a directory."""
_IDENTIFIER = re.compile(r"\$(?:(\w*)(?:%0(\d{1,2})d)?)\$")
_MOST_SEGMENTS = 100_000
_CUTS = ("SegmentTemplate", "SegmentList")


class UnreadableMpdError(Exception):
    """An MPD has something wrong, or something that cannot be played; in words, without the file's name."""


class MpdSegment(NamedTuple):
    """A segment: its file, relative to the MPD, and what it plays."""

    name: str
    length_s: Fraction


@dataclass(frozen=True)
class MpdScope:
    """All that is said of an element of an MPD, by itself and by those around it.

    Attributes:
        base: directory of its files, relative to the MPD.
        said: attributes.
        cut: of ``SegmentTemplate`` or ``SegmentList``, whichever there is.
        by: which of the two; empty if neither was there.
        timeline: ``S`` elements: when segments begin, and what they play; none if all play the same.
        listed: files of a ``SegmentList``.
        begins: what ``Initialization`` says, or the template's attribute.
    """

    base: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    cut: Mapping[str, str] = field(default_factory=dict)
    by: str = ""
    timeline: Sequence[Element] = ()
    listed: tuple[str, ...] = ()
    begins: str | None = None

    def within(self, element: Element) -> MpdScope:
        """The scope of an element in this one.

        Raises:
            UnreadableMpdError: it has what cannot be played.
        """
        if next(children(element, "ContentProtection"), None) is not None:
            raise UnreadableMpdError("is of an encrypted video; a clear one can be played")
        if next(children(element, "SegmentBase"), None) is not None:
            raise UnreadableMpdError(
                "has SegmentBase, ranges of one file; a video cut into files can be played"
            )
        base = next(children(element, "BaseURL"), None)
        inner = replace(
            self,
            base=self.base if base is None else _joined(self.base, (base.text or "").strip()),
            said={**self.said, **element.attrib},
        )
        for by in _CUTS:
            for cut in children(element, by):
                inner = inner._cut_by(by, cut)
        return inner

    @property
    def kind(self) -> str:
        """``video``, ``audio`` or what else it is."""
        mime = self.said.get("mimeType", "")
        return self.said.get("contentType") or mime.partition("/")[0]

    @property
    def initialization(self) -> str | None:
        """The file with which decoding begins, relative to the MPD; None if there is none."""
        return None if self.begins is None else _file(self, _filled(self, self.begins))

    def _cut_by(self, by: str, cut: Element) -> MpdScope:
        begins = cut.get("initialization", self.begins)
        for one in children(cut, "Initialization"):
            begins = _whole(one, "sourceURL", "range")
        timeline = next(children(cut, "SegmentTimeline"), None)
        listed = tuple(_whole(one, "media", "mediaRange") for one in children(cut, "SegmentURL"))
        return replace(
            self,
            cut={**self.cut, **cut.attrib},
            by=by,
            begins=begins,
            timeline=self.timeline if timeline is None else tuple(children(timeline, "S")),
            listed=listed or self.listed,
        )


def children(element: Element, name: str) -> Iterator[Element]:
    """Elements of a name in another one, whatever their namespace."""
    return (one for one in element if one.tag.rpartition("}")[2] == name)


def segments_of(scope: MpdScope, length_s: Fraction | None) -> tuple[MpdSegment, ...]:
    """The segments of a Representation.

    Args:
        scope: its own.
        length_s: of the period; None if the MPD does not say.

    Raises:
        UnreadableMpdError: they cannot be told.
    """
    name = scope.said.get("id")
    if not scope.by:
        raise UnreadableMpdError(f"Representation {name!r} has no SegmentTemplate or SegmentList")
    if scope.by == "SegmentTemplate" and not scope.cut.get("media"):
        raise UnreadableMpdError(f"the SegmentTemplate of {name!r} needs the attribute media")
    timescale = _number(scope.cut, "timescale", 1)
    if not timescale:
        raise UnreadableMpdError(f"the timescale of {name!r} is 0")
    starts = _starts(scope, timescale, length_s)
    if len(starts) > _MOST_SEGMENTS:
        raise UnreadableMpdError(f"has more than {_MOST_SEGMENTS:,} segments")
    first = _number(scope.cut, "startNumber", 1)
    files = scope.listed
    if scope.by == "SegmentTemplate":
        files = tuple(
            _filled(scope, scope.cut["media"], first + place, start)
            for place, (start, _) in enumerate(starts)
        )
    elif len(files) < len(starts):
        told = f"{len(starts)} segments, and SegmentList names {len(files)}"
        raise UnreadableMpdError(f"by its times {name!r} has {told}")
    return tuple(
        MpdSegment(_file(scope, file), Fraction(length, timescale))
        for file, (_, length) in zip(files, starts, strict=False)
    )


def _starts(
    scope: MpdScope, timescale: int, length_s: Fraction | None
) -> list[tuple[int, Fraction]]:
    """When segments begin, and what they play, in ticks."""
    ends = None if length_s is None else length_s * timescale
    if scope.timeline:
        offset = _number(scope.cut, "presentationTimeOffset", 0)
        return _by_timeline(scope.timeline, None if ends is None else ends + offset)
    ticks = _number(scope.cut, "duration", 0)
    if not ticks:
        raise UnreadableMpdError(
            f"segments of {scope.said.get('id')!r} have neither a duration nor a SegmentTimeline"
        )
    if ends is None:
        if scope.listed:
            return [(place * ticks, Fraction(ticks)) for place in range(len(scope.listed))]
        raise UnreadableMpdError("needs mediaPresentationDuration: how many segments are there?")
    count = min(math.ceil(ends / ticks), _MOST_SEGMENTS + 1)
    return [(place * ticks, min(Fraction(ticks), ends - place * ticks)) for place in range(count)]


def _by_timeline(timeline: Sequence[Element], ends: Fraction | None) -> list[tuple[int, Fraction]]:
    starts: list[tuple[int, Fraction]] = []
    at = 0
    for place, one in enumerate(timeline):
        at, length = _number(one.attrib, "t", at), _number(one.attrib, "d", 0)
        if not length:
            raise UnreadableMpdError("a segment in SegmentTimeline plays for no time (d)")
        repeats = int(one.get("r", "0")) if re.fullmatch(r"-?\d{1,18}", one.get("r", "0")) else 0
        if repeats < 0:
            # To the next element that says when it begins, or to the period's end.
            after = timeline[place + 1 :]
            until = _number(after[0].attrib, "t", 0) if after else ends
            if not until:
                raise UnreadableMpdError("SegmentTimeline repeats without an end (r)")
            repeats = math.ceil((until - at) / length) - 1
        count = min(repeats + 1, _MOST_SEGMENTS + 1 - len(starts))
        starts += [(at + number * length, Fraction(length)) for number in range(count)]
        at += (repeats + 1) * length
    return starts


def _number(said: Mapping[str, str], name: str, usual: int) -> int:
    text = said.get(name)
    if text is None:
        return usual
    number = whole_number(text)
    if number is None:
        raise UnreadableMpdError(f"{name} is {quoted(text)}, and not a whole number")
    return number


def _filled(scope: MpdScope, template: str, number: int | None = None, time: int = 0) -> str:
    """A template's name (ISO/IEC 23009-1, 5.3.9.4.4); without a number, that of the initialization."""
    known: dict[str, str | int] = {
        "RepresentationID": scope.said.get("id", ""),
        "Bandwidth": whole_number(scope.said.get("bandwidth", "")) or 0,
    }
    if number is not None:
        known |= {"Number": number, "Time": time}

    def value(found: re.Match[str]) -> str:
        name, width = found[1], int(found[2] or 0)
        if not name:
            return "$"
        if name not in known:
            raise UnreadableMpdError(f"{template!r}: {found[0]} cannot be filled in")
        return str(known[name]).zfill(width)

    return _IDENTIFIER.sub(value, template)


def _file(scope: MpdScope, url: str) -> str:
    name = _joined(scope.base, url)
    if not name or name.endswith("/"):
        raise UnreadableMpdError(f"{url!r} names no file")
    try:
        return str(below(name))
    except WrongInputError as error:
        raise UnreadableMpdError(error.message) from None


def _joined(base: str, url: str) -> str:
    """A URL of an MPD as a name relative to it; one of a directory ends in a slash."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|/", url):
        raise UnreadableMpdError(f"{url}: files are to be beside the MPD, by relative names")
    if url and not _PLAIN.fullmatch(url):
        raise UnreadableMpdError(f"{url!r}: names have letters, digits and . _ ~ + = , @ - only")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(base), url)) if url else base
    if name == ".." or name.startswith("../"):
        raise UnreadableMpdError(f"{url}: files are to be in the MPD's directory, or below it")
    slash = "/" if url.endswith(("/", "/.", "/..")) or url in (".", "..") else ""
    return "" if name == "." else name.rstrip("/") + slash


def _whole(element: Element, name: str, part: str) -> str:
    """The file of an element that may name a part of one."""
    url = element.get(name)
    if url is None or element.get(part) is not None:
        raise UnreadableMpdError(
            f"has ranges of one file ({part}); a video cut into files can be played"
        )
    return url
