"""Files that may be compressed with gzip."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.bounds import RECORDING, Budget, TooMuchContentError
from headway.foreign.files import read_regular

GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_READ_BYTES = 1 << 16
_BEGINNING_BYTES = 4096
_MOST_TIMES = 4


class DamagedError(Exception):
    """A file is not what it should be; says what is wrong, and where."""


def members(data: bytes, budget: Budget) -> Iterator[bytes]:
    """The content of each member of compressed data (RFC 1952, section 2.2).

    Raises:
        DamagedError: it is damaged, or was cut.
        TooMuchContentError: it holds more than the budget has.
    """
    view, at = memoryview(data), 0
    while at < len(data) and any(view[at : at + len(GZIP_MAGIC)]):  # zeros fill blocks of tapes
        decoder = zlib.decompressobj(_GZIP)
        parts: list[bytes] = []
        while not decoder.eof:
            part = view[at : at + _READ_BYTES]
            if not part:
                raise DamagedError("truncated: its compressed data ends too early")
            try:
                # A part grows a thousandfold at most.
                parts.append(decoder.decompress(part))
            except zlib.error as error:
                raise DamagedError("damaged: its compressed data cannot be read") from error
            budget.take(len(parts[-1]))
            at += len(part) - len(decoder.unused_data)
        yield b"".join(parts)


def beginning(start: bytes) -> bytes:
    """How the content begins of what begins so; empty if its compressed data is damaged."""
    if not start.startswith(GZIP_MAGIC):
        return start
    try:
        return zlib.decompressobj(_GZIP).decompress(start, _BEGINNING_BYTES)
    except zlib.error:
        return b""


def compressed_once(data: bytes, budget: Budget) -> bytes:
    """Content that is compressed once or not at all, of what was compressed several times.

    Args:
        data: the content.
        budget: what it may hold, each time.

    Raises:
        DamagedError: it is damaged, or was cut.
        TooMuchContentError: it holds more than the budget has.
    """
    for _ in range(_MOST_TIMES):
        if not data.startswith(GZIP_MAGIC) or not beginning(data[:_BEGINNING_BYTES]).startswith(
            GZIP_MAGIC
        ):
            break
        data = b"".join(members(data, budget))
    return data


def read_unzipped(path: Path) -> bytes:
    """The content of a file, compressed or not.

    Raises:
        WrongInputError: it cannot be read, or holds too much.
    """
    try:
        data = read_regular(path)
        budget = RECORDING.budget(len(data))
        data = compressed_once(data, budget)
        return b"".join(members(data, budget)) if data.startswith(GZIP_MAGIC) else data
    except TooMuchContentError as error:
        raise WrongInputError(error.message, where=str(path)) from None
    except DamagedError as error:
        raise WrongInputError(str(error), where=str(path)) from error
