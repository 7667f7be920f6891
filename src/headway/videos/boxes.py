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
    """A file of fragments, taken apart.

    Attributes:
        init: what describes the track (``ftyp`` and ``moov``).
        fragments: its samples, each time a ``moof`` and its ``mdat``.
    """

    init: bytes
    fragments: tuple[bytes, ...]

    @classmethod
    def of(cls, data: bytes, count: int = 1) -> Encoded:
        """Take a file apart.

        Args:
            data: the file.
            count: of the fragments that it must have; those behind them do not count.

        Raises:
            BoxError: it has fewer.
        """
        by_data: dict[bytes, list[bytes]] = {}
        for box in boxes(data):
            by_data.setdefault(box.kind, []).append(data[box.start : box.end])
        wanted = {b"ftyp": 1, b"moov": 1, b"moof": count, b"mdat": count}
        for kind, least in wanted.items():
            if (there := len(by_data.get(kind, ()))) < least:
                raise BoxError(f"there are {there} of {least} boxes {kind.decode()}")
        fragments = map(bytes.__add__, by_data[b"moof"][:count], by_data[b"mdat"])
        return cls(by_data[b"ftyp"][0] + by_data[b"moov"][0], tuple(fragments))

    def segment(self, number: int, decode_time: int) -> Iterator[bytes]:
        """The fragments as those of the segment of a number, from 1, whose first sample has a time."""
        first = (number - 1) * len(self.fragments) + 1
        for sequence, fragment in enumerate(self.fragments, start=first):
            yield _timed(fragment, sequence, decode_time)


def _timed(fragment: bytes, sequence: int, decode_time: int) -> bytes:
    """A fragment by another number, and later by a time."""
    data = bytearray(fragment)
    for box in _inner(fragment, 0, len(data)):
        if box.kind == b"mfhd":
            struct.pack_into(">I", data, box.body + 4, sequence)
        elif box.kind == b"tfdt":
            if data[box.body] != _WIDE:
                raise BoxError("the time of its fragments has less than 64 bits")
            (time,) = struct.unpack_from(">Q", data, box.body + 4)
            struct.pack_into(">Q", data, box.body + 4, time + decode_time)
    return bytes(data)


def widened(fragment: bytes, size: int) -> bytes:
    """A fragment that says it has so many bytes: those behind its samples belong to its ``mdat``, and no sample is there.

    Raises:
        BoxError: it has more.
    """
    if size < len(fragment):
        raise BoxError(f"a fragment of {len(fragment)} bytes has no room in {size}")
    *_, last = boxes(fragment)
    header = _HEADER.pack(size - last.start, last.kind)
    return fragment[: last.start] + header + fragment[last.body :]


def _inner(data: bytes, start: int, end: int) -> Iterator[Box]:
    for box in boxes(data, start, end):
        yield box
        if box.kind in _CONTAINERS:
            yield from _inner(data, box.body, box.end)
