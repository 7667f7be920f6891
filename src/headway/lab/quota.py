"""The quota of what programs may leave in a run's directory, and print: more fails the run, and is not kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from headway.contract.artifact import readable

_MIB = 2**20
MOST_BYTES = 512 * _MIB
MOST_PRINTED_BYTES = 64 * _MIB
_KEPT_BYTES = 64 * _MIB
"""What stays of a directory that holds too much: what else is in it is small."""
_EXCERPT_BYTES = _MIB
"""What stays of each file to which programs printed, of those that have too much."""
_FILE_BYTES = 4096
"""The least that a file takes, however little it holds."""
_BLOCK_BYTES = 512
"""In which the system counts what a file has on the disk, whatever the file system (stat(2))."""


@dataclass(frozen=True, order=True)
class _File:
    """A file, with its size and what of it is on the disk: holes are not (lseek(2), `SEEK_HOLE`)."""

    size_bytes: int
    disk_bytes: int
    path: str


@dataclass(frozen=True)
class Quota:
    """How much the files of a directory may have in all, and how much programs may print.

    A file counts with its size: whoever reads, copies or archives it has to do with all of it, be there holes or not.

    Attributes:
        most_bytes: how much files may have that programs made.
        writers: the programs that may make them, in words.
        uncounted: how names of files and directories end that the study asked for, such as its captures.
        printers: the programs whose outputs are files, `NAME.out` and `NAME.err`.
        most_printed_bytes: how much these may have in all.
    """

    most_bytes: int = MOST_BYTES
    writers: str = "programs"
    uncounted: tuple[str, ...] = ()
    printers: tuple[str, ...] = ()
    most_printed_bytes: int = MOST_PRINTED_BYTES

    def excess(self, directory: Path) -> str | None:
        """That a directory holds too much, or programs printed too much, and which; nothing if neither is so."""
        printed, made = self._files(directory)
        if _total(printed) > self.most_printed_bytes:
            most = f"a run keeps {_amount(self.most_printed_bytes)} of what its programs print"
            return f"{_printed_most(printed)}: {most}"
        if _total(made) > self.most_bytes:
            return f"{self._made(made, directory)}: a run keeps {_amount(self.most_bytes)}"
        return None

    def _made(self, files: list[_File], directory: Path) -> str:
        on_disk = sum(file.disk_bytes for file in files)
        largest = max(files)
        name = readable(os.path.relpath(largest.path, directory))
        if on_disk > self.most_bytes:
            wrote = f"wrote {_amount(on_disk)} into the run's directory"
            return f"{self.writers} {wrote}, of which {name} has {_amount(largest.disk_bytes)}"
        made = f"made files of {_amount(_total(files))} in the run's directory"
        holes = f"{_amount(on_disk)} of them written and the rest holes, which count"
        return f"{self.writers} {made} ({holes}), of which {name} has {_amount(largest.size_bytes)}"

    def cut(self, directory: Path) -> None:
        """Remove the largest files of a directory that holds too much, and shorten outputs that do."""
        printed, made = self._files(directory)
        if _total(printed) > self.most_printed_bytes:
            for file in printed:
                if file.size_bytes > _EXCERPT_BYTES:
                    os.truncate(file.path, _EXCERPT_BYTES)
        total = _total(made)
        if total <= self.most_bytes:
            return
        for file in sorted(made, reverse=True):
            if total <= min(_KEPT_BYTES, self.most_bytes):
                return
            Path(file.path).unlink()
            total -= file.size_bytes

    def _files(self, directory: Path) -> tuple[list[_File], list[_File]]:
        """The files to which programs printed, and all others that count."""
        outputs = {f"{name}.{end}" for name in self.printers for end in ("out", "err")}
        printed: list[_File] = []
        made: list[_File] = []
        for entry in self._entries(directory):
            with suppress(FileNotFoundError):
                about = entry.stat(follow_symlinks=False)
                disk_bytes = about.st_blocks * _BLOCK_BYTES
                file = _File(max(about.st_size, _FILE_BYTES), disk_bytes, entry.path)
                (printed if entry.name in outputs else made).append(file)
        return printed, made

    def _entries(self, directory: Path) -> Iterator[os.DirEntry[str]]:
        """The counted files; a lab may still write them, and some may not be looked at yet."""
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
                        yield entry


def _total(files: list[_File]) -> int:
    return sum(file.size_bytes for file in files)


def _printed_most(files: list[_File]) -> str:
    """Which program printed the most, or made the largest of the files for that, and how much."""
    largest = max(files)
    name = readable(PurePath(largest.path).stem)
    if largest.disk_bytes < largest.size_bytes - _FILE_BYTES:
        made = f"{readable(PurePath(largest.path).name)} {_amount(largest.size_bytes)} long"
        return f"{name} printed {_amount(largest.disk_bytes)} and made {made}"
    return f"{name} printed {_amount(largest.size_bytes)}"


def _amount(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:,.0f} MiB"
