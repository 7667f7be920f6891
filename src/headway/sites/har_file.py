"""HAR files (HAR 1.2), read entry by entry: an odd one is left out and named, and the others stay.

What tools write beside the standard begins with an underscore. Nothing here judges what a response is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headway.foreign.shown import quoted
from headway.sites.har_json import HarPart, har_parts
from headway.sites.httpversions import stated_version
from headway.sites.instants import instant_s
from headway.sites.ordering import in_time
from headway.sites.site import Header

_MOST_BYTES = 1 << 62
_MOST_STATUS = 999
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "null"),
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "an object"),
)
_MISSING = object()
_FIREFOX_FIELDS = ("x-firefox-http3", "x-firefox-spdy")
"""Fields that Firefox adds to a response, with what it came over."""


class OddEntryError(ValueError):
    """An entry is not what HAR 1.2 has; says what of it."""


@dataclass(frozen=True)
class HarContent:
    """What an entry has of a response's content.

    Attributes:
        size_bytes: without content coding; None if it is not told, as the others are.
        compression_bytes: what the content coding saved.
        kind: media type; empty without one.
        text: the body.
        encoding: how the text has the body, such as ``base64``; empty if it is the body's text.
        file: name of a file that has it instead.
    """

    size_bytes: int | None = None
    compression_bytes: int | None = None
    kind: str = ""
    text: str | None = None
    encoding: str = ""
    file: str = ""


@dataclass(frozen=True)
class HarEntry:
    """A request and its response.

    Attributes:
        number: of the entry in the file, from 1.
        began_s: when, seconds since 1970; None if neither it nor its page tells.
        page: identifier of its page; empty if it names none.
        method: of the request.
        url: of the request.
        request_headers: fields of the request.
        status: of the response; 0 or less if there was none.
        headers: fields of the response; None if it has not even a list of them.
        content: of the response.
        entry: all of it.
    """

    number: int
    began_s: float | None
    page: str
    method: str
    url: str
    request_headers: tuple[Header, ...]
    status: int
    headers: tuple[Header, ...] | None
    content: HarContent
    entry: Mapping[str, Any]

    @property
    def response(self) -> Mapping[str, Any]:
        """The response as it is written."""
        return _mapping(self.entry.get("response"))

    @cached_property
    def protocol(self) -> str:
        """The version of HTTP as the tool writes it; empty if it does not tell."""
        request = _mapping(self.entry.get("request"))
        stated = [self.response.get("httpVersion"), self.entry.get("_protocol")]
        added = (value for name, value in self.headers or () if name.lower() in _FIREFOX_FIELDS)
        return stated_version(map(plain, (*stated, request.get("httpVersion"), *added)))

    @property
    def is_document(self) -> bool:
        """Whether the tool says that it is a document."""
        return plain(self.entry.get("_resourceType")).lower() == "document"

    @property
    def body_bytes(self) -> int | None:
        """How much of a body came over the network; None if that is not told."""
        return count(self.response.get("bodySize"))


@dataclass(frozen=True)
class HarPage:
    """A page that a file lists.

    Attributes:
        id: by which entries name it.
        began_s: when, seconds since 1970; None if that is not told.
        page: all of it.
    """

    id: str
    began_s: float | None
    page: Mapping[str, Any]


@dataclass(frozen=True)
class HarFile:
    """What a file holds.

    Attributes:
        entries: in the order in which they began.
        pages: likewise.
        odd: what is wrong with the entries that are left out, each by its number.
    """

    entries: tuple[HarEntry, ...]
    pages: tuple[HarPage, ...] = ()
    odd: tuple[str, ...] = ()


def har_file(data: bytes, path: Path) -> HarFile:
    """What a HAR file holds, from its content.

    Args:
        data: the content.
        path: of the file.

    Raises:
        WrongInputError: it is no HAR file.
    """
    listed, parts = har_parts(data, path)
    pages = tuple(_pages(listed))
    began_s = {page.id: page.began_s for page in pages}
    entries: list[HarEntry] = []
    odd: list[str] = []
    for number, part in enumerate(parts, start=1):
        try:
            entries.append(_entry(number, part, began_s))
        except OddEntryError as error:
            odd.append(f"entry {number}{_named(part.value)}: {error}")
    times = [entry.began_s for entry in entries]
    return HarFile(tuple(in_time(entries, times)), pages, tuple(odd))


def plain(value: Any) -> str:
    """A text that is beside the response, with nothing in it that a line cannot have; empty if it is no text."""
    text = value if isinstance(value, str) else ""
    return " ".join(text.encode(errors="replace").decode().split())


def count(value: Any) -> int | None:
    """A number of bytes; None for -1 and others, which stand for one that is not known."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < _MOST_BYTES else None


def _pages(listed: Any) -> Iterator[HarPage]:
    entries = (
        [value for value in listed if isinstance(value, dict)] if isinstance(listed, list) else []
    )
    pages = [
        HarPage(plain(entry.get("id")), instant_s(entry.get("startedDateTime")), entry)
        for entry in entries
    ]
    yield from in_time(pages, [page.began_s for page in pages])


def _named(value: Any) -> str:
    """What an odd entry is about, as far as it tells."""
    request = _mapping(_mapping(value).get("request"))
    words = (plain(request.get("method")), plain(request.get("url")))
    name = " ".join(word for word in words if word)
    return f", {quoted(name)[1:-1]}" if name else ""


def _entry(number: int, part: HarPart, began_s: Mapping[str, float | None]) -> HarEntry:
    if part.broken:
        raise OddEntryError(part.broken)
    entry = _object(part.value, "it")
    request = _object(entry.get("request", _MISSING), "request")
    response = _object(entry.get("response", _MISSING), "response")
    page = plain(entry.get("pageref"))
    own_s = instant_s(entry.get("startedDateTime"))
    headers = response.get("headers", _MISSING)
    return HarEntry(
        number=number,
        began_s=began_s.get(page) if own_s is None else own_s,
        page=page,
        method=_text(request.get("method", _MISSING), "request.method"),
        url=_text(request.get("url", _MISSING), "request.url"),
        request_headers=tuple(_sound(request.get("headers"))),
        status=_status(response.get("status", _MISSING)),
        headers=None if headers is _MISSING else tuple(_headers(headers, "response.headers")),
        content=_content(response.get("content")),
        entry=entry,
    )


def _headers(value: Any, name: str) -> Iterator[Header]:
    if not isinstance(value, list):
        raise _odd(name, value, "a list")
    for at, entry in enumerate(value):
        field = _object(entry, f"{name}[{at}]")
        yield (
            _text(field.get("name", _MISSING), f"{name}[{at}].name"),
            _text(field.get("value", _MISSING), f"{name}[{at}].value"),
        )


def _sound(value: Any) -> Iterator[Header]:
    """Fields of a request, without those that are odd: nothing but counts depends on them."""
    for entry in value if isinstance(value, list) else ():
        try:
            yield from _headers([entry], "request.headers")
        except OddEntryError:
            continue


def _content(value: Any) -> HarContent:
    content = _mapping(value)
    text = content.get("text")
    if text is not None:
        _text(text, "response.content.text")
    return HarContent(
        size_bytes=count(content.get("size")),
        compression_bytes=count(content.get("compression")),
        kind=plain(content.get("mimeType")),
        text=text,
        encoding=plain(content.get("encoding")).lower(),
        file=plain(content.get("_file")),
    )


def _status(value: Any) -> int:
    number = value
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        number = int(value.strip()[:4])
    if not isinstance(number, int | float) or isinstance(number, bool):
        raise _odd("response.status", value, "a number")
    if number != number or number > _MOST_STATUS or number % 1:
        raise OddEntryError("response.status is not a status")
    return max(0, int(number))


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise _odd(name, value, "an object")


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    raise _odd(name, value, "text")


def _odd(name: str, value: Any, right: str) -> OddEntryError:
    if value is _MISSING:
        return OddEntryError(f"{name} is missing")
    kind = next(kind for types, kind in _KINDS if isinstance(value, types))
    return OddEntryError(f"{name} is {kind} and not {right}")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
