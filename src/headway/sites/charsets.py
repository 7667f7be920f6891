"""Character sets of documents and style sheets, as browsers find them (HTML Standard, section 13.2.3.2)."""

from __future__ import annotations

import codecs
import re

_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_AT_CHARSET = re.compile(r"""@charset "([^"]*)";""")
_DECLARED_WITHIN = 1024
"""How many bytes into HTML and CSS browsers look for a declaration."""
_HTML = ("text/html", "application/xhtml+xml")
_CSS = "text/css"
_LATIN = "cp1252"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def stated_charset(content_type: str, start: str) -> str | None:
    """The label of the character set that a `content-type` or, in HTML and CSS, the text itself states.

    Args:
        content_type: value of the field.
        start: the text, or its beginning.
    """
    stated, kind = _CHARSET.search(content_type), content_type.lower()
    if stated is None and kind.startswith(_HTML):
        stated = _CHARSET.search(start, 0, _DECLARED_WITHIN)
    elif stated is None and kind.startswith(_CSS):
        stated = _AT_CHARSET.match(start)
    return stated[1] if stated else None


def codec_of(label: str) -> str:
    """The codec for a label; UTF-8 if it is not known. ISO-8859-1 and ASCII are read as Windows-1252."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return "utf-8"
    return _LATIN if name in ("iso8859-1", "ascii") else name


def decoded_text(body: bytes, content_type: str) -> tuple[str, str]:
    """A body's text, and the character set in which its URLs' queries are sent.

    A byte order mark is stronger than what is stated; what states nothing is UTF-8 if it can be.
    """
    for mark, codec in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace"), "utf-8"
    stated = stated_charset(content_type, body[:_DECLARED_WITHIN].decode("latin-1"))
    codec = codec_of(stated) if stated else _guessed(body)
    try:
        text = body.decode(codec, "replace")
    except (LookupError, ValueError):  # a codec that is none of text
        return body.decode(errors="replace"), "utf-8"
    return text, "utf-8" if codec.startswith("utf") else codec


def _guessed(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return _LATIN
    return "utf-8"
