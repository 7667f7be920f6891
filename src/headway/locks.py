"""Locks on files, which not every file system has."""

from __future__ import annotations

import fcntl

from headway.errors import HeadwayError


def lock_file(descriptor: int, place: object, *, wait: bool = True) -> None:
    """Lock an open file; the lock ends with the last descriptor of it.

    Args:
        descriptor: of the file.
        place: the directory that a user knows.
        wait: whether to wait for another holder.

    Raises:
        BlockingIOError: another holds it, and nobody is to wait.
        HeadwayError: the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError as error:
        raise HeadwayError(
            f"{place}: its file system cannot lock files ({error.strerror}); use a directory on a local disk"
        ) from error
