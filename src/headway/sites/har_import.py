"""Sites from HAR 1.2 files, as browsers' developer tools and proxies save them."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from headway.errors import WrongInputError
from headway.sites.recording import Captured, Recording, assembled, in_charset, site_name


class _Header(BaseModel):
    name: str
    value: str


class _Request(BaseModel):
    method: str
    url: str


class _Content(BaseModel):
    size: int = 0
    text: str | None = None
    encoding: str | None = None


class _Response(BaseModel):
    status: int
    http_version: str | None = Field(default=None, alias="httpVersion")
    headers: list[_Header]
    content: _Content = Field(default_factory=_Content)


class _Entry(BaseModel):
    request: _Request
    response: _Response


class _Log(BaseModel):
    entries: list[_Entry]


class _Har(BaseModel):
    log: _Log


def read_har(path: Path) -> Recording:
    """The site of a HAR file.

    HAR has bodies decoded, and text as Unicode: the character set that `content-type` states and
    the content coding are applied again, so that bodies have about the size that they had.

    Raises:
        WrongInputError: it cannot be read, is not a HAR file, or holds no page.
    """
    try:
        har = _Har.model_validate_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise WrongInputError(
            f"not a HAR 1.2 file: {place + ': ' if place else ''}{first['msg']}", where=str(path)
        ) from error
    return assembled(
        site_name(path),
        [_captured(entry) for entry in har.log.entries],
        source=str(path),
        description=f"Imported from {path.name}.",
    )


def _captured(entry: _Entry) -> Captured:
    response = entry.response
    headers = tuple((header.name, header.value) for header in response.headers)
    return Captured(
        method=entry.request.method,
        url=entry.request.url,
        status=response.status,
        headers=headers,
        body=_body(response.content, headers),
        is_decoded=True,
        protocol=response.http_version or "",
    )


def _body(content: _Content, headers: tuple[tuple[str, str], ...]) -> bytes | None:
    if content.text is None:
        return None if content.size > 0 else b""
    if content.encoding == "base64":
        try:
            return base64.b64decode(content.text)
        except binascii.Error:
            return None
    return in_charset(content.text, headers)
