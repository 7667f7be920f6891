"""Bodies that still have their content coding, although the tool that wrote them undoes codings as a rule.

Proxies and scripts that write HAR files hand over what they had: what came over the network. Applying the coding again
would make a body that browsers decode once and show as it is then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from headway.sites.captured import BodyReading, Captured
from headway.sites.coding import CODINGS, CodingError, content_codings, decoded

_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
"""How frames of Zstandard begin (RFC 8878, sections 3.1.1 and 3.1.2)."""
_DEFLATE, _ZLIB_CHECK = "deflate", 31
"""The first two bytes of the zlib format are a multiple of 31 (RFC 1950, section 2.2)."""
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
"""What text does not have, in any character set that extends ASCII; escape begins some of ISO-2022."""
_TEXTUAL = re.compile(r"text/|\b(javascript|ecmascript|json|xml)\b|\+(json|xml)\b")
_PACKED = re.compile(r"zip|tar\b|compress|zstd|brotli|octet-stream|^$")
"""Media types of files that are compressed, or may be."""
_REPLACED = "\ufffd".encode()
_LOOKED_AT_BYTES = 64
_WIDE = re.compile(r"utf-?(16|32)")


@dataclass(frozen=True)
class StillCoded:
    """A body with codings.

    Attributes:
        body: with them.
        names: of the codings that it has, the first of those that the response states.
    """

    body: bytes
    names: tuple[str, ...]


def still_coded(captured: Captured, readings: Iterable[BodyReading]) -> StillCoded | None:
    """The reading of a body that still is in the codings which the response states; None if no one is.

    Args:
        captured: the response.
        readings: what its body may be.
    """
    names = content_codings(captured.headers)
    if not names:
        return None
    for reading in readings:
        for last in range(len(names), 0, -1):
            if _is_coded(captured, reading.body, names[:last]):
                return StillCoded(reading.body, names[:last])
    return None


def lost_bytes(captured: Captured, body: bytes) -> bool:
    """Whether a body is what is left of coded bytes after a tool took them for text in UTF-8.

    Args:
        captured: the response.
        body: that is taken for its body.
    """
    start = body[:_LOOKED_AT_BYTES]
    is_spoilt = _REPLACED in start and _CONTROL.search(start) is not None
    return is_spoilt and bool(content_codings(captured.headers)) and _is_textual(captured)


def _is_textual(captured: Captured) -> bool:
    return bool(_TEXTUAL.search(captured.media_type))


def _is_coded(captured: Captured, body: bytes, names: tuple[str, ...]) -> bool:
    if not body or not _can_be_coded(captured, body) or not _decodes(body, names):
        return False
    if not _PACKED.search(captured.media_type):
        return True
    # A compressed file that is sent compressed again looks the same; lengths tell them apart.
    stated = (captured.content_length, captured.told.sent_bytes)
    return len(body) in stated


def _can_be_coded(captured: Captured, body: bytes) -> bool:
    """Whether a body has what no text has; some short texts are valid Brotli, too."""
    if not _is_textual(captured):
        return True
    is_wide = _WIDE.search(captured.header("content-type").lower())
    return not is_wide and _CONTROL.search(body) is not None


def _decodes(body: bytes, names: tuple[str, ...]) -> bool:
    *before, last = names
    if last not in CODINGS:
        return _ZSTD.match(body) is not None
    if last == _DEFLATE and int.from_bytes(body[:2]) % _ZLIB_CHECK:
        return False  # without the head and the check of zlib, much is deflate by accident
    try:
        inner = decoded(body, [last])
        return bool(inner) and (not before or _decodes(inner, tuple(before)))
    except CodingError as error:
        return error.is_too_long
