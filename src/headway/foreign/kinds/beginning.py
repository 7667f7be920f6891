"""The beginning of a file, uncompressed and as text: all that its kind is told by."""

from __future__ import annotations

import codecs
import zlib
from dataclasses import dataclass
from functools import cached_property

BEGINNING_BYTES = 1 << 16
"""Of a file and of what it holds compressed: as much as is looked at."""
GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_UNICODE = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Beginning:
    """The first bytes of a file.

    Attributes:
        data: the bytes, without compression by gzip.
        is_whole: whether the file has no more.
        packings: what it was compressed with, the outer one first.
        is_damaged: whether its compressed data cannot be read.
    """

    data: bytes
    is_whole: bool = True
    packings: tuple[str, ...] = ()
    is_damaged: bool = False

    @property
    def coding(self) -> str:
        """Of its text, by the mark of byte order that it has."""
        return next((name for mark, name in _UNICODE if self.data.startswith(mark)), "utf-8")

    @cached_property
    def text(self) -> str:
        """The bytes as text, without blank lines before it."""
        return self.data.decode(self.coding, errors="replace").lstrip()

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text that are whole."""
        lines = self.text.splitlines()
        return lines if self.is_whole else lines[:-1]


def beginning(start: bytes, *, is_whole: bool = True) -> Beginning:
    """How what begins so begins uncompressed.

    Args:
        start: the first bytes of a file.
        is_whole: whether they are all of it.
    """
    packings: list[str] = []
    while start.startswith(GZIP_MAGIC):
        packings.append("gzip")
        decoder = zlib.decompressobj(_GZIP)
        try:
            start = decoder.decompress(start, BEGINNING_BYTES)
        except zlib.error:
            return Beginning(b"", is_whole, tuple(packings), is_damaged=True)
        is_whole = is_whole and decoder.eof and not decoder.unused_data
    return Beginning(start, is_whole, tuple(packings))
