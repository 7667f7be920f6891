"""Processes that a lab leaves: ended and waited for here, since the first process of a container may wait for none.

One that nobody waits for counts against the limit of processes for as long as the container lives.
"""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from functools import cache

_PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): orphans among a process' descendants become its children."""


@cache
def adopt_orphans() -> None:
    """Make this process the parent of what its labs leave; a host that cannot leaves them to its first process."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans(group: int) -> None:
    """End what is left of a group of processes whose leader has ended, and wait for those that are ours.

    Of a process that led no group, as a lab with a terminal, nothing is.
    """
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.waitid(os.P_PGID, group, os.WEXITED)
