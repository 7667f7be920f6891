"""Bodies that tools wrote down as text: the bytes that they may have been."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator

from headway.sites.captured import BodyReading
from headway.sites.site import Header

_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_DECLARED_WITHIN = 1024
"""How many bytes into HTML browsers look for a declaration (HTML Standard, section 13.2.3.2)."""
_HTML = ("text/html", "application/xhtml+xml")
_LATIN = "latin-1"
_LATIN_OF_BROWSERS = "cp1252"
"""What browsers read for ISO-8859-1 (Encoding Standard, section 4.2)."""
_SPACE = re.compile(r"[ \t\r\n]+")


def text_readings(text: str, headers: Iterable[Header]) -> Iterator[BodyReading]:
    """What a text that stands for a body may have been, the likeliest first."""
    stated = in_charset(text, headers)
    yield BodyReading(stated)
    if not text:
        return
    unicode = text.encode(errors="surrogatepass")
    if unicode != stated:
        yield BodyReading(unicode, "text taken to be UTF-8, though another character set is stated")
    yield BodyReading(codecs.BOM_UTF8 + unicode, "byte order mark put before text again")
    if not text.isascii() and (as_bytes := _encoded(text, _LATIN)) is not None:
        yield BodyReading(as_bytes, "characters taken for bytes")
    if (coded := from_base64(text)) is not None:
        yield BodyReading(coded, "text taken to be base64, though that is not said")


def base64_readings(text: str, headers: Iterable[Header]) -> Iterator[BodyReading]:
    """What a text that is said to be base64 may have been, the likeliest first.

    Some tools say so of all bodies, also of those that they have as text.
    """
    if (coded := from_base64(text)) is not None:
        yield BodyReading(coded)
    yield BodyReading(
        in_charset(text, headers), "text kept as it is, though it is said to be base64"
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
    stated = _CHARSET.search(kinds)
    if stated is None and kinds.lower().startswith(_HTML):
        stated = _CHARSET.search(text, 0, _DECLARED_WITHIN)
    charset = stated[1] if stated else "utf-8"
    encoded = _encoded(text, charset)
    if encoded is None and _is_latin(charset):
        encoded = _encoded(text, _LATIN_OF_BROWSERS)
    return text.encode(errors="surrogatepass") if encoded is None else encoded


def _encoded(text: str, charset: str) -> bytes | None:
    try:
        return text.encode(charset)
    except (LookupError, UnicodeEncodeError):
        return None


def _is_latin(charset: str) -> bool:
    try:
        return codecs.lookup(charset).name in ("iso8859-1", "ascii")
    except LookupError:
        return False
