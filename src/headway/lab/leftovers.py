"""Leftovers of a lab in its run's directory, made safe to read and write: programs may have put anything there."""

from __future__ import annotations

import os
import stat
import tempfile
from itertools import count
from pathlib import Path

from headway.contract.artifact import SpoiltError

_OWNERS = stat.S_IRUSR | stat.S_IWUSR
_MOST_NESTED, _LONGEST_BYTES = 32, 1024
"""How many directories may stand in each other, and how long a path may be: file systems, archives and tools have limits."""


def keep_plain_files(directory: Path) -> None:
    """Keep of a directory only files and directories, which their owner can read and write.

    What the host then writes would go where a symbolic link leads, what it reads would wait for a
    pipe's other end, and a file with the bit for that would run with its owner's rights.

    Raises:
        SpoiltError: directories stood in each other too deep, and were removed.
    """
    too_deep = _keep(directory, len(os.fsencode(directory)) + _LONGEST_BYTES, _MOST_NESTED)
    if too_deep:
        raise SpoiltError(str(too_deep[0].relative_to(directory)), "is nested too deep")


def _keep(directory: Path, longest: int, nested: int) -> list[Path]:
    """Returns the directories that were removed, because they were nested too deep."""
    removed = []
    for entry in sorted(os.scandir(directory), key=lambda dir_entry: dir_entry.name):
        mode = entry.stat(follow_symlinks=False).st_mode
        path = Path(entry.path)
        if stat.S_ISDIR(mode):
            if not nested or len(os.fsencode(path)) > longest:
                _remove(path)
                removed.append(path)
                continue
            _permit(path, mode, stat.S_IRWXU)
            removed += _keep(path, longest, nested - 1)
        elif stat.S_ISREG(mode):
            _permit(path, mode, _OWNERS)
        else:
            path.unlink()
    return removed


def _permit(path: Path, mode: int, needed: int) -> None:
    wanted = (stat.S_IMODE(mode) | needed) & ~(stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
    if wanted != stat.S_IMODE(mode):
        path.chmod(wanted)


def _remove(directory: Path) -> None:
    """Remove a directory, however deep: its inner ones come up first, so that no path is long."""
    with tempfile.TemporaryDirectory(dir=directory.parent) as top:
        names = map(str, count())
        waiting = [directory]
        while waiting:
            emptied = waiting.pop()
            emptied.chmod(stat.S_IRWXU)
            for entry in list(os.scandir(emptied)):
                if entry.is_dir(follow_symlinks=False):
                    # What moves to another directory is written to.
                    Path(entry.path).chmod(stat.S_IRWXU)
                    waiting.append(Path(entry.path).rename(Path(top, next(names))))
                else:
                    Path(entry.path).unlink()
            emptied.rmdir()
