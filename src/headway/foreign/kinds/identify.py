"""Identification of a file or directory by its content."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

from headway.errors import WrongInputError
from headway.foreign.files import open_regular
from headway.foreign.kinds.beginning import BEGINNING_BYTES, Beginning, beginning
from headway.foreign.kinds.binary import binary_kind
from headway.foreign.kinds.containers import ZIP_STARTS, directory_kind, tar_kind, zip_kind
from headway.foreign.kinds.documents import json_kind, xml_kind
from headway.foreign.kinds.lines import text_kind
from headway.foreign.kinds.model import FileKind, Identity

DAMAGED_GZIP = FileKind(
    "damaged-gzip", "compressed data (gzip) that is damaged or cut off", is_defect=True
)
_BY_CONTENT: tuple[Callable[[Beginning], Identity | None], ...] = (
    binary_kind,
    json_kind,
    xml_kind,
    text_kind,
)
"""In this order: each leaves to the next what it does not know."""


def identify(path: Path) -> Identity:
    """What a file or directory is.

    Raises:
        WrongInputError: it cannot be read, or is neither a file nor a directory.
    """
    try:
        if path.is_dir():
            return directory_kind(path)
        with open_regular(path) as file:
            return identify_opened(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file has such a name"
        raise WrongInputError(f"cannot be read: {reason}", where=str(path)) from None


def identify_opened(file: IO[bytes]) -> Identity:
    """What an opened file is; it is read from its beginning.

    Raises:
        OSError: it cannot be read.
    """
    file.seek(0)
    data = file.read(BEGINNING_BYTES + 1)
    start = beginning(data[:BEGINNING_BYTES], is_whole=len(data) <= BEGINNING_BYTES)
    if start.is_damaged:
        return Identity(DAMAGED_GZIP)
    identity = _identified(start, file)
    for packing in reversed(start.packings):
        identity = identity.packed(packing)
    return identity


def _identified(start: Beginning, file: IO[bytes]) -> Identity:
    if start.data.startswith(ZIP_STARTS):
        return zip_kind(io.BytesIO(start.data) if start.packings else file)
    if start.data[257:262] == b"ustar" or _is_old_tar(start.data):
        file.seek(0)
        if result := tar_kind(io.BytesIO(start.data) if start.packings else file):
            return result
    identity = next(filter(None, (read(start) for read in _BY_CONTENT)))
    return (
        identity
        if start.coding.startswith("utf-8")
        else replace(identity, coding=start.coding.upper())
    )


def _is_old_tar(data: bytes) -> bool:
    """Whether a header of before POSIX stands there: its checksum is right (of 512 bytes, its own as blanks)."""
    header = data[:512]
    digits = header[148:156].strip(b" \0")
    if len(header) < 512 or not digits or digits.strip(b"01234567"):
        return False
    return int(digits, 8) == sum(header[:148]) + 8 * 32 + sum(header[156:])
