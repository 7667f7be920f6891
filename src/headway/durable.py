"""Files that are there whole or not at all, whatever happens."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from headway.errors import naming

PARTIAL_SUFFIX = ".partial"
"""End of the names of files that are being written."""


def write_atomically(file: Path, data: bytes) -> None:
    """Write a file so that readers see it whole or not at all, whatever happens.

    Raises:
        OSError: it cannot be written; names the file.
    """
    with naming(file):
        _write_atomically(file, data)


def _write_atomically(file: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(
        dir=file.parent, prefix=f".{file.name}.", suffix=PARTIAL_SUFFIX, delete=False
    ) as temporary:
        try:
            temporary.write(data)
            temporary.flush()
            os.fsync(temporary.fileno())
            Path(temporary.name).chmod(0o644)
            Path(temporary.name).replace(file)
        except BaseException:
            Path(temporary.name).unlink()
            raise
    sync_directory(file.parent)


def sync_directory(directory: Path) -> None:
    """Make names of new files durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
