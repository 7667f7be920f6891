"""Use of the processor by a process and its descendants, as /proc tells (proc_pid_stat(5))."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Usage:
    """What a tree of processes has used so far, and whether it is at work.

    Attributes:
        cpu_s: processor time, that of descendants which have ended included; seconds.
        asleep: none of them runs, waits for a processor or a disk, or is stopped.
        processes: how many they are.
    """

    cpu_s: float
    asleep: bool
    processes: int = 0


@dataclass(frozen=True)
class _Process:
    pid: int
    state: str
    parent: int
    ticks: int


def usage_of(pid: int) -> Usage:
    """The usage of a process and its descendants; nothing of one that is gone."""
    by_parent: defaultdict[int, list[_Process]] = defaultdict(list)
    tree = []
    for process in _processes():
        by_parent[process.parent].append(process)
        if process.pid == pid:
            tree.append(process)
    for process in tree:
        tree += by_parent[process.pid]
    return Usage(
        sum(process.ticks for process in tree) / _TICKS_PER_S,
        all(process.state in "SIZ" for process in tree),
        len(tree),
    )


def _processes() -> Iterator[_Process]:
    for name in os.listdir("/proc"):  # noqa: PTH208  (several times as fast)
        if not name.isdigit():
            continue
        try:
            text = Path(f"/proc/{name}/stat").read_text(encoding="utf-8")
        except OSError:  # it ended meanwhile
            continue
        # The name before the parenthesis may hold anything.
        state, parent, *rest = text.rpartition(")")[2].split()
        # utime, stime, and those of children that have been waited for
        yield _Process(int(name), state, int(parent), sum(map(int, rest[9:13])))
