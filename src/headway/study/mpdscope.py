"""The scope of MPD elements: what they inherit, and the names of files that follow."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from headway.errors import WrongInputError
from headway.foreign.names import below
from headway.foreign.numbers import whole_number
from headway.foreign.shown import quoted
from headway.study.mpdtimes import UnreadableMpdError

_PLAIN = re.compile(r"[A-Za-z0-9._~/+=,@-]+")
"""Names that are the same in a URL and in a directory."""
_IDENTIFIER = re.compile(r"\$(?:(\w*)(?:%0(\d{1,2})d)?)\$")
_CUTS = ("SegmentTemplate", "SegmentList")


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
            said={
                **{key: value for key, value in self.said.items() if key != "id"},
                **element.attrib,
            },
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
        return None if self.begins is None else file_name(self, filled(self, self.begins))

    def _cut_by(self, by: str, cut: Element) -> MpdScope:
        begins = cut.get("initialization", self.begins)
        for element in children(cut, "Initialization"):
            begins = _whole(element, "sourceURL", "range")
        timeline = next(children(cut, "SegmentTimeline"), None)
        listed = tuple(
            _whole(child, "media", "mediaRange") for child in children(cut, "SegmentURL")
        )
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
    return (child for child in element if child.tag.rpartition("}")[2] == name)


def whole_attribute(attributes: Mapping[str, str], name: str, usual: int) -> int:
    """The whole number of an attribute, or what is usual without it.

    Raises:
        UnreadableMpdError: it is no whole number.
    """
    text = attributes.get(name)
    if text is None:
        return usual
    number = whole_number(text)
    if number is None:
        raise UnreadableMpdError(f"{name} is {quoted(text)}, and not a whole number")
    return number


def filled(scope: MpdScope, template: str, number: int | None = None, time: int = 0) -> str:
    """A template's name (ISO/IEC 23009-1, 5.3.9.4.4); without a number, that of the initialization."""
    known: dict[str, str | int] = {
        "RepresentationID": scope.said.get("id", ""),
        "Bandwidth": whole_number(scope.said.get("bandwidth", "")) or 0,
    }
    if number is not None:
        known |= {"Number": number, "Time": time}

    def value(match: re.Match[str]) -> str:
        name, width = match[1], int(match[2] or 0)
        if not name:
            return "$"
        if name not in known:
            raise UnreadableMpdError(f"{template!r}: {match[0]} cannot be filled in")
        return str(known[name]).zfill(width)

    return _IDENTIFIER.sub(value, template)


def file_name(scope: MpdScope, url: str) -> str:
    """The file of a URL in a scope, relative to the MPD.

    Raises:
        UnreadableMpdError: it names none in the MPD's directory or below it.
    """
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
