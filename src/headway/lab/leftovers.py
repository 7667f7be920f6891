"""What a lab leaves in its run's directory, made safe to read and write: programs may have put anything there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OWNERS = stat.S_IRUSR | stat.S_IWUSR


def keep_plain_files(directory: Path) -> None:
    """Keep of a directory only files and directories, which their owner can read and write.

    What the host then writes would go where a symbolic link leads, what it reads would wait for a
    pipe's other end, and a file with the bit for that would run with its owner's rights.
    """
    for entry in sorted(os.scandir(directory), key=lambda one: one.name):
        mode = entry.stat(follow_symlinks=False).st_mode
        path = Path(entry.path)
        if stat.S_ISDIR(mode):
            _permit(path, mode, stat.S_IRWXU)
            keep_plain_files(path)
        elif stat.S_ISREG(mode):
            _permit(path, mode, _OWNERS)
        else:
            path.unlink()


def _permit(path: Path, mode: int, needed: int) -> None:
    wanted = (stat.S_IMODE(mode) | needed) & ~(stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
    if wanted != stat.S_IMODE(mode):
        path.chmod(wanted)
