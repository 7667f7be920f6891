"""What many runs cost beside their labs, and what a report of them takes: processor time and memory.

    python -m bench.many            # the tables of what it measures

Labs answer at once, as in `bench.campaign`. Each row is a process of its own, whose highest memory counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.campaign import STUDY, task
from bench.report import HEADWAY, Shape, save
from headway.campaign.session import conduct
from headway.campaign.watcher import SilentWatcher
from headway.study.load import study_from
from tests.stub_lab import replace_labs

CELLS = 100
RUNS = (100, 1000, 10_000)
REPORTED = (*RUNS, 100_000)
_ONE_STUDY = "--runs"


@dataclass(frozen=True)
class Taken:
    """What a process took."""

    processor_s: float
    peak_mb: float


def taken(command: Sequence[str]) -> Taken:
    """Of a command that succeeds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"many: {' '.join(command)} ended with status {process.returncode}")
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def studied(runs: int) -> Taken:
    """A study of so many runs, from its plan to its table."""
    return taken([sys.executable, "-m", "bench.many", _ONE_STUDY, str(runs)])


def reported(runs: int) -> Taken:
    """A report over so many made runs, of the same number of cells."""
    with tempfile.TemporaryDirectory() as directory:
        save(Shape(CELLS, 2, runs // CELLS // 2 or 1), Path(directory))
        return taken([str(HEADWAY), "report", directory])


def conduct_one(runs: int) -> None:
    """Carry out a study of so many runs whose labs answer at once."""
    axes = {name: STUDY["axes"][name] for name in ("workload.size", "path.rtt")}  # type: ignore[index]
    study = study_from({**STUDY, "axes": axes, "repetitions": runs // CELLS})
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        replace_labs(patch)
        conduct(task(study, Path(directory) / "out"), SilentWatcher())


def print_table(what: str, counts: Sequence[int], of: Callable[[int], Taken]) -> None:
    """A row for each number of runs."""
    print(f"\n| {what} | processor time | memory at most |\n|---|---|---|")
    for runs in counts:
        one = of(runs)
        print(f"| {runs} | {one.processor_s:.1f} s | {one.peak_mb:.0f} MB |", flush=True)


def main() -> None:
    """Print both tables, or carry out one study."""
    if sys.argv[1:2] == [_ONE_STUDY]:
        conduct_one(int(sys.argv[2]))
        return
    print_table("runs whose labs answer at once", RUNS, studied)
    print_table("a report of so many runs", REPORTED, reported)


if __name__ == "__main__":
    main()
