"""Sites from HAR 1.2 files, as browsers' developer tools and proxies save them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from headway.errors import WrongInputError
from headway.foreign.names import place_below
from headway.sites.captured import BodyReading, Captured, RecordedFile, StatedLength, Told
from headway.sites.gzipped import read_unzipped
from headway.sites.readings import TextReadings
from headway.sites.site import Header

_SIZE = "content.size"
_MOST_BYTES = 1 << 62
_FAILED = "the tool notes {} for it"

Attachments = Callable[[str], bytes | None]
"""The content of a file that a HAR file names; None if it is not there."""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    """A number of bytes; -1 and others stand for one that is not known."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < _MOST_BYTES else None


# What is beside the request, the status and the header fields is for nothing but this: no file is refused for it.
_Text = Annotated[str | None, BeforeValidator(_text)]
_Count = Annotated[int | None, BeforeValidator(_count)]


class _Header(BaseModel):
    name: str
    value: str


class _Request(BaseModel):
    method: str
    url: str


class _Content(BaseModel):
    size: _Count = None
    compression: _Count = None
    kind: _Text = Field(default=None, alias="mimeType")
    text: str | None = None
    encoding: str | None = None
    file: _Text = Field(default=None, alias="_file")

    @property
    def sizes(self) -> Iterator[StatedLength]:
        """How long it is; some tools state what was sent."""
        if self.size is not None:
            yield StatedLength(self.size, _SIZE)
            if self.compression:
                yield StatedLength(self.size + self.compression, _SIZE)


class _Response(BaseModel):
    status: int
    http_version: str | None = Field(default=None, alias="httpVersion")
    headers: list[_Header]
    content: _Content = Field(default_factory=_Content)
    body_size: _Count = Field(default=None, alias="bodySize")
    error: _Text = Field(default=None, alias="_error")


class _Entry(BaseModel):
    request: _Request
    response: _Response
    kind: _Text = Field(default=None, alias="_resourceType")


class _Log(BaseModel):
    entries: list[_Entry]


class _Har(BaseModel):
    log: _Log


def read_har(path: Path) -> RecordedFile:
    """What a HAR file holds; bodies that it has in files of their own are looked for beside it.

    HAR has bodies decoded, and text as Unicode: the character set that `content-type` states and
    the content coding are applied again, so that bodies have about the size that they had.

    Raises:
        WrongInputError: it cannot be read, or is not a HAR file.
    """
    return har_content(read_unzipped(path), path, beside(path))


def har_content(data: bytes, path: Path, attachments: Attachments) -> RecordedFile:
    """What a HAR file holds, from its content.

    Args:
        data: the content.
        path: of the file.
        attachments: what reads files that it names.

    Raises:
        WrongInputError: it or is not a HAR file.
    """
    try:
        har = _Har.model_validate_json(data.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise WrongInputError(
            f"not a HAR 1.2 file: {place + ': ' if place else ''}{first['msg']}", where=str(path)
        ) from error
    return RecordedFile(tuple(_captured(entry, attachments) for entry in har.log.entries))


def beside(path: Path) -> Attachments:
    """What reads the files in a file's directory, and no others."""

    def read(name: str) -> bytes | None:
        try:
            file = place_below(path.parent, name)
        except WrongInputError:
            return None
        is_inside = file.resolve().is_relative_to(path.parent.resolve())
        return file.read_bytes() if is_inside and file.is_file() else None

    return read


def _captured(entry: _Entry, attachments: Attachments) -> Captured:
    response, content = entry.response, entry.response.content
    headers = tuple((header.name, header.value) for header in response.headers)
    readings = _readings(content, headers, attachments)
    first = next(iter(readings), None)
    return Captured(
        method=entry.request.method,
        url=entry.request.url,
        status=response.status,
        headers=headers,
        body=first.body if first else None,
        is_decoded=True,
        protocol=response.http_version or "",
        kind=content.kind or ("text/html" if entry.kind == "document" else ""),
        told=Told(
            readings=readings,
            sizes=tuple(content.sizes),
            sent_bytes=response.body_size,
            lost="" if first else _lost(content),
            cut=_FAILED.format(response.error) if response.error else "",
        ),
    )


def _lost(content: _Content) -> str:
    if content.file:
        return f"its file {content.file} is not beside the HAR file"
    return "it is not in the HAR file; such files can be saved with content" if content.size else ""


def _readings(
    content: _Content, headers: tuple[Header, ...], attachments: Attachments
) -> Iterable[BodyReading]:
    """What its body may be; nothing if it is not there."""
    if content.text is not None:
        return TextReadings(content.text, headers, (content.encoding or "").lower() == "base64")
    body = attachments(content.file) if content.file else None
    return () if body is None else (BodyReading(body),)
