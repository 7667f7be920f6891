"""Cores: which there are, and one for each lab."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_LOOK_AGAIN_S = 0.02


def available_cores() -> list[int]:
    """Cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def leased_core() -> Iterator[int]:
    """A core that no other holder of a lease on this machine has; waits until there is one.

    Worker processes that know nothing of each other thus run one lab per core. A lease ends with
    its process, whatever kills that.
    """
    cores = available_cores()
    descriptors = {core: os.open(_CPUS / f"cpu{core}", os.O_RDONLY) for core in cores}
    try:
        yield _first_free(descriptors)
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def _first_free(descriptors: dict[int, int]) -> int:
    while True:
        for core, descriptor in descriptors.items():
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return core
        # One cannot wait for the first of several locks; a lab takes far longer than this.
        time.sleep(_LOOK_AGAIN_S)
