"""Cores: which there are, and one for each lab, whoever runs it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_LOOK_AGAIN_S = 0.02
_PATIENCE_S = 20.0
"""A core that is not free by then is likely kept by a study that takes it again and again, or that is suspended."""


def available_cores() -> list[int]:
    """Cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def leased_core(patience_s: float = _PATIENCE_S) -> Iterator[int]:
    """A core that no other holder of a lease on this machine has; waits until there is one.

    Worker processes that know nothing of each other thus run one lab per core. A lease ends with
    its process, whatever kills that.

    Args:
        patience_s: how long to wait at most, s; then a core is shared.
    """
    cores = available_cores()
    give_up_s = time.monotonic() + patience_s
    with _leases(cores) as leases:
        while (core := _first_free(leases, cores)) is None and time.monotonic() < give_up_s:
            # One cannot wait for the first of several locks; a lab takes far longer than this.
            time.sleep(_LOOK_AGAIN_S)
        yield cores[os.getpid() % len(cores)] if core is None else core


@contextmanager
def free_core(preferred: int) -> Iterator[int]:
    """A core for a lab: the preferred one, or another if somebody else's lab has that.

    Studies side by side thus use all cores. If none is free, the preferred one is shared: whoever
    waited for a lease might wait for ever, since those who have one take the next at once.
    """
    cores = available_cores()
    with _leases(cores) as leases:
        order = sorted(cores, key=lambda core: core != preferred)
        number = _first_free(leases, order)
        yield preferred if number is None else number


@contextmanager
def _leases(cores: Iterable[int]) -> Iterator[dict[int, int]]:
    """Descriptors by core, to be locked; closing one ends its lease."""
    descriptors = {core: os.open(_CPUS / f"cpu{core}", os.O_RDONLY) for core in cores}
    try:
        yield descriptors
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def _first_free(leases: Mapping[int, int], order: Iterable[int]) -> int | None:
    for core in order:
        with suppress(BlockingIOError):
            fcntl.flock(leases[core], fcntl.LOCK_EX | fcntl.LOCK_NB)
            return core
    return None
