"""An append-only file of lines: what was added is durable, and a line that was cut is not seen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError, naming
from headway.locks import lock_file


class Journal:
    """A journal that one process at a time may write to.

    Lines that are added together cost one write and one wait for the disk, which is what makes a
    journal cheaper than a file for every line.
    """

    def __init__(self, file: Path) -> None:
        """Open a journal, made if it is not there; what a killed writer cut is removed.

        Raises:
            WrongInputError: another process writes to it.
            HeadwayError: its file system has no locks.
        """
        self._name = file
        self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            lock_file(self._file, file.parent, wait=False)
        except BlockingIOError:
            os.close(self._file)
            raise WrongInputError(
                "another study is being carried out in it", where=str(file.parent)
            ) from None
        except HeadwayError:
            os.close(self._file)
            raise
        self._cut(_whole(file.read_bytes()))

    def _cut(self, size: int) -> None:
        os.ftruncate(self._file, size)

    def clear(self) -> None:
        """Remove all lines."""
        self._cut(0)
        os.fsync(self._file)

    def add(self, lines: Sequence[bytes]) -> None:
        """Append lines, durably: all of them, or none if the disk is full.

        Raises:
            OSError: they could not be written.
            HeadwayError: the file is not there any more.
        """
        self.check_there()
        size = os.fstat(self._file).st_size
        data = b"".join(line + b"\n" for line in lines)
        with naming(self._name):
            self._write(data, size)

    def _write(self, data: bytes, size: int) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fdatasync(self._file)
        except OSError:
            self._cut(size)
            raise

    @property
    def is_there(self) -> bool:
        """Whether the file is still where it was: otherwise nobody would find what is added."""
        try:
            return os.path.samestat(self._name.stat(), os.fstat(self._file))
        except OSError:
            return False

    def check_there(self) -> None:
        """Let it be there.

        Raises:
            HeadwayError: it is not.
        """
        if not self.is_there:
            raise HeadwayError(f"{self._name.parent} is gone: it was removed or moved meanwhile")

    def close(self) -> None:
        """Let another process write to it."""
        os.close(self._file)


def read_journal(file: Path) -> Iterator[bytes]:
    """Whole lines of a journal; none if it is not there. Somebody may be writing to it."""
    try:
        with file.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    yield line[:-1]
    except FileNotFoundError:
        return


def _whole(data: bytes) -> int:
    """Size of what ends with a line's end."""
    return data.rfind(b"\n") + 1
