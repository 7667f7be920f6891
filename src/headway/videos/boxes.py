"""Boxes of ISO media files (ISO/IEC 14496-12): fragments that say another time, and have another size."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = struct.Struct(">I4s")
_CONTAINERS = frozenset({b"moof", b"traf"})
_WIDE = 1
"""Version of a ``tfdt`` whose time has 64 bits."""


class BoxError(Exception):
    """A file is not made of boxes, or lacks one."""


@dataclass(frozen=True)
class Box:
    """A box of a file: its type, and where it is.

    Attributes:
        kind: its four letters.
        start: of its header.
        end: behind its last byte.
    """

    kind: bytes
    start: int
    end: int

    @property
    def body(self) -> int:
        """Where its content begins."""
        return self.start + _HEADER.size


def boxes(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """The boxes between two places, one after the other.

    Raises:
        BoxError: these are no boxes.
    """
    end = len(data) if end is None else end
    while start < end:
        if end - start < _HEADER.size:
            raise BoxError(f"{end - start} bytes at {start} are no box")
        size, kind = _HEADER.unpack_from(data, start)
        if size < _HEADER.size or start + size > end:
            raise BoxError(f"a box of {size} bytes at {start} does not fit into the file")
        yield Box(kind, start, start + size)
        start += size


@dataclass(frozen=True)
class Encoded:
    """A file with one fragment, taken apart.

    Attributes:
        init: what describes the track (``ftyp`` and ``moov``).
        fragment: its samples (``moof`` and ``mdat``).
    """

    init: bytes
    fragment: bytes

    @classmethod
    def of(cls, data: bytes) -> Encoded:
        """Take a file apart; only its first fragment counts.

        Raises:
            BoxError: it has none.
        """
        found: dict[bytes, bytes] = {}
        for box in boxes(data):
            found.setdefault(box.kind, data[box.start : box.end])
        lacks = [kind for kind in (b"ftyp", b"moov", b"moof", b"mdat") if kind not in found]
        if lacks:
            raise BoxError(f"there is no box {lacks[0].decode()}")
        return cls(found[b"ftyp"] + found[b"moov"], found[b"moof"] + found[b"mdat"])

    def segment(self, number: int, decode_time: int) -> bytes:
        """The fragment as the segment of a number, from 1, whose first sample has a time."""
        data = bytearray(self.fragment)
        for box in _inner(self.fragment, 0, len(data)):
            if box.kind == b"mfhd":
                struct.pack_into(">I", data, box.body + 4, number)
            elif box.kind == b"tfdt":
                if data[box.body] != _WIDE:
                    raise BoxError("the time of its fragments has less than 64 bits")
                struct.pack_into(">Q", data, box.body + 4, decode_time)
        return bytes(data)


def padding_header(size: int) -> bytes:
    """The beginning of a box that players skip, with so many bytes in all.

    Raises:
        BoxError: no box is so small.
    """
    if size and size < _HEADER.size:
        raise BoxError(f"{size} bytes are less than a box")
    return _HEADER.pack(size, b"free") if size else b""


def _inner(data: bytes, start: int, end: int) -> Iterator[Box]:
    for box in boxes(data, start, end):
        yield box
        if box.kind in _CONTAINERS:
            yield from _inner(data, box.body, box.end)
