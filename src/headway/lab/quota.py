"""What programs may leave in a run's directory: more fails the run, and is not kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headway.contract.artifact import readable

_MIB = 2**20
MOST_BYTES = 512 * _MIB
_KEPT_BYTES = 64 * _MIB
"""What stays of a directory that holds too much: what else is in it is small."""
_BLOCK_BYTES = 4096
"""The least that a file takes, however little it holds."""


@dataclass(frozen=True)
class Quota:
    """How much the files of a directory may have in all.

    Attributes:
        most_bytes: how much.
        writers: the programs that may write there, in words.
        uncounted: how names of files and directories end that the study asked for, such as its captures.
    """

    most_bytes: int = MOST_BYTES
    writers: str = "programs"
    uncounted: tuple[str, ...] = ()

    def excess(self, directory: Path) -> str | None:
        """That a directory holds too much, and of which file the most; nothing if it does not."""
        files = list(self._files(directory))
        total = sum(size for size, _ in files)
        if total <= self.most_bytes:
            return None
        size, largest = max(files)
        return (
            f"{self.writers} wrote {_amount(total)} into the run's directory, of which "
            f"{readable(os.path.relpath(largest, directory))} has {_amount(size)}: "
            f"a run keeps {_amount(self.most_bytes)}"
        )

    def cut(self, directory: Path) -> None:
        """Remove the largest files of a directory that holds too much."""
        files = sorted(self._files(directory), reverse=True)
        total = sum(size for size, _ in files)
        for size, file in files:
            if total <= min(_KEPT_BYTES, self.most_bytes):
                return
            Path(file).unlink()
            total -= size

    def _files(self, directory: Path) -> Iterator[tuple[int, str]]:
        """The counted files with their sizes; a lab may still write them, and some may not be looked at yet."""
        pending = [str(directory)]
        while pending:
            place = pending.pop()
            with suppress(OSError):
                for entry in os.scandir(place):
                    if entry.name.endswith(self.uncounted):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError):
                            size = entry.stat(follow_symlinks=False).st_size
                            yield max(size, _BLOCK_BYTES), entry.path


def _amount(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:,.0f} MiB"
