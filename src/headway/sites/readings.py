"""Bodies that tools wrote down as text: the bytes that they may have been."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headway.sites.captured import BodyReading
from headway.sites.charsets import codec_of, stated_charset
from headway.sites.site import Header

_BYTES = "latin-1"
_SPACE = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True)
class TextReadings:
    """What a text that stands for a body may have been, the likeliest first; made when they are asked for.

    Attributes:
        text: the text.
        headers: fields of the response.
        is_base64: whether it is said to be base64. Some tools say so of all bodies, also of those that they have as
            text.
    """

    text: str
    headers: tuple[Header, ...]
    is_base64: bool = False

    def __iter__(self) -> Iterator[BodyReading]:
        return (_base64_readings if self.is_base64 else _text_readings)(self.text, self.headers)


def _text_readings(text: str, headers: Iterable[Header]) -> Iterator[BodyReading]:
    stated = in_charset(text, headers)
    yield BodyReading(stated)
    if not text:
        return
    unicode = text.encode(errors="surrogatepass")
    if unicode != stated:
        yield BodyReading(unicode, "text taken to be UTF-8, though another character set is stated")
    yield BodyReading(codecs.BOM_UTF8 + unicode, "byte order mark put before text again")
    if not text.isascii() and (as_bytes := _encoded(text, _BYTES)) is not None:
        yield BodyReading(as_bytes, "characters taken for bytes")
    if (coded := from_base64(text)) is not None:
        yield BodyReading(coded, "text taken to be base64, though that is not stated")


def _base64_readings(text: str, headers: Iterable[Header]) -> Iterator[BodyReading]:
    if (coded := from_base64(text)) is not None:
        yield BodyReading(coded)
    yield BodyReading(
        in_charset(text, headers), "text kept as it is, though it is stated to be base64"
    )


def from_base64(text: str) -> bytes | None:
    """The bytes that base64 stands for, broken into lines or not; None if a text is not base64."""
    letters = _SPACE.sub("", text)
    try:
        return base64.b64decode(letters, validate=True)
    except (binascii.Error, ValueError):
        return None


def in_charset(text: str, headers: Iterable[Header]) -> bytes:
    """Text in the character set that its `content-type` or, in HTML, itself states; else UTF-8."""
    kinds = " ".join(value for name, value in headers if name.lower() == "content-type")
    charset = stated_charset(kinds, text) or "utf-8"
    encoded = _encoded(text, charset)
    if encoded is None:
        encoded = _encoded(text, codec_of(charset))
    return text.encode(errors="surrogatepass") if encoded is None else encoded


def _encoded(text: str, charset: str) -> bytes | None:
    try:
        return text.encode(charset)
    except (LookupError, UnicodeEncodeError):
        return None
