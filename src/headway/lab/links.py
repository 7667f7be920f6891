"""Hard links to files of results, or copies where a file system has none; copies of files with holes."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""What file systems say that have no more hard links, or none."""

_AT_ONCE = 2**20
"""Bytes that are copied at once."""


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


def copy_all(source: Path, target: Path) -> None:
    """Copy a directory of regular files; what is a hole in a file stays one.

    Raises:
        OSError: the directory is there, or a file cannot be copied.
    """
    for place, _, files in os.walk(source):
        own = target / Path(place).relative_to(source)
        own.mkdir(parents=True)
        for name in files:
            copy_file(Path(place) / name, own / name)


def copy_file(file: Path, name: Path) -> None:
    """Copy a regular file; what is a hole in it stays one.

    Raises:
        OSError: the copy is there, or the file cannot be copied.
    """
    with file.open("rb") as old, name.open("xb") as new:
        size = os.fstat(old.fileno()).st_size
        at = 0
        while (begin := _data(old.fileno(), at, size)) < size:
            at = os.lseek(old.fileno(), begin, os.SEEK_HOLE)
            old.seek(begin)
            new.seek(begin)
            for left in range(at - begin, 0, -_AT_ONCE):
                new.write(old.read(min(left, _AT_ONCE)))
        new.truncate(size)


def _data(file: int, at: int, size: int) -> int:
    """Where the next data of a file is, from a place on; its size if there is none."""
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return size
