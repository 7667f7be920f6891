"""Files of others on this machine: regular files only, since others wait, never end, or lead elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from headway.errors import WrongInputError
from headway.foreign.shown import quoted

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_regular(path: Path) -> bytes:
    """The content of a regular file that a user names, by a link or not.

    Raises:
        WrongInputError: it cannot be read, or is no regular file.
    """
    try:
        return read_beginning(path, -1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file has such a name"
        raise WrongInputError(f"cannot be read: {reason}", where=str(path)) from None


def read_bounded(path: Path, most_bytes: int, *, missing: str, too_long: str) -> bytes:
    """The content of a regular file that is no longer than it may be.

    Args:
        path: of the file.
        most_bytes: that it may have.
        missing: what is said if there is none.
        too_long: what is said, after how much it may have, if it has more.

    Raises:
        WrongInputError: there is none, it cannot be read, or it has more.
    """
    where = str(path)
    try:
        data = read_beginning(path, most_bytes + 1)
    except FileNotFoundError:
        raise WrongInputError(missing, where=where) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file has such a name"
        raise WrongInputError(f"cannot be read: {reason}", where=where) from None
    if len(data) > most_bytes:
        raise WrongInputError(f"has more than {most_bytes >> 20} MiB{too_long}", where=where)
    return data


def read_beginning(path: Path, most_bytes: int) -> bytes:
    """How the content of a regular file begins; all of it if ``most_bytes`` is negative.

    Raises:
        WrongInputError: it is no regular file.
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        return file.read(most_bytes)


def open_regular(path: Path, flags: int = 0) -> IO[bytes]:
    """Open a regular file for reading, without waiting for the other end of a pipe.

    Args:
        path: of the file.
        flags: of open(2) besides, such as that links are not followed.

    Raises:
        WrongInputError: it is no regular file.
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise WrongInputError(f"is {kind_of(mode)}, not a file", where=str(path))


def kind_of(mode: int) -> str:
    """What something is that is no regular file."""
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "no file")


def check_plain(path: Path, top: Path) -> None:
    """Check that something in a directory of others is a directory or a regular file, or not there.

    Args:
        path: what is looked at.
        top: the directory, for the message.

    Raises:
        WrongInputError: it is something else.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise WrongInputError(
            f"holds {quoted(os.path.relpath(path, top))}, which is {kind_of(mode)}: only directories and "
            "regular files are read; remove it, or put a copy of what it stands for in its place",
            where=str(top),
        )


def check_tree(top: Path, named: Path) -> None:
    """Check that a directory of others holds directories and regular files only, however deep.

    What looks at files in it then stays in it, and ends.

    Args:
        top: the directory.
        named: the directory that messages name, which has it.

    Raises:
        WrongInputError: it holds something else, or cannot be read.
    """
    for path in _odd(str(top)):
        check_plain(Path(path), named)


def _odd(top: str) -> Iterator[str]:
    """Everything below a directory that is neither a directory nor a regular file; links are not followed."""
    pending = [top]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as scandir_iterator:
                for dir_entry in scandir_iterator:
                    if dir_entry.is_dir(follow_symlinks=False):
                        pending.append(dir_entry.path)
                    elif not dir_entry.is_file(follow_symlinks=False):
                        yield dir_entry.path
        except FileNotFoundError:
            continue  # removed meanwhile, as by a study that goes on
        except OSError as error:
            raise WrongInputError(f"cannot be read: {error.strerror}", where=directory) from None
