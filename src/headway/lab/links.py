"""Hard links to files of results, or copies where a file system has none."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""What file systems say that have no more hard links, or none."""


def link(file: Path, name: Path) -> None:
    """Give a file another name.

    Raises:
        OSError: it can be neither linked nor copied.
    """
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(file, name, follow_symlinks=False)


def link_all(source: Path, target: Path) -> None:
    """Give all files of a directory other names, in a directory that is made for them.

    Raises:
        OSError: the directory is there, or a file can be neither linked nor copied.
    """
    for place, inner, files in os.walk(source):
        own = target / Path(place).relative_to(source)
        own.mkdir(parents=True)
        links = [name for name in inner if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            link(Path(place) / name, own / name)
