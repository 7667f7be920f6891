"""What the campaign costs beside its labs: planning, scheduling, storing; and what two cores give.

Run by `make bench`; `python -m bench.campaign` prints these rows alone.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.rows import Row, print_rows
from headway.campaign.local import LocalExecutor
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.columns import Record, Status
from headway.lab.bodies import body_file
from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from headway.planning.runs import Run, plan
from headway.records.store import Start, Store
from headway.study.experiment import Study
from headway.study.load import study_from
from tests.stub_lab import replace_labs

STUDY = {
    "name": "overhead",
    "repetitions": 10,
    "axes": {
        "workload.size": [f"{number} kB" for number in range(1, 11)],
        "path.rtt": [f"{number} ms" for number in range(1, 11)],
        "path.loss": ["0 %", "1 %", "2 %", "3 %", "4 %"],
        "protocol": ["h2", "h3"],
    },
    "path": {"rate": "10 Mbit/s"},
}
RUNS = 10_000
LABS = {
    "name": "throughput",
    "repetitions": 4,
    "axes": {"protocol": ["h1", "h2", "h3"]},
    "workload": {"size": "1 MB"},
    "path": {"rate": "10 Mbit/s", "rtt": "50 ms", "loss": "1 %"},
}
ROUNDS = 5


def timed(action: Callable[[], object]) -> float:
    """Wall time of an action, seconds."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def task(study: Study, out: Path) -> Task:
    """All of a study, or what is left of it."""
    return Task(study, study.name, out, "", "", Start.RESUME)


def overhead() -> list[Row]:
    """A study of 10,000 runs whose labs answer at once, and going on when all are done."""
    study = study_from(STUDY)
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        replace_labs(patch)
        wanted = task(study, Path(directory) / "out")
        first = timed(lambda: conduct(wanted, SilentWatcher()))
        again = timed(lambda: conduct(wanted, SilentWatcher()))
    planned = timed(lambda: plan(study))
    return [
        Row(
            f"planning, scheduling, storing, table; for each of {RUNS:,} runs",
            f"{first / RUNS * 1000:.2f} ms (planning {planned / RUNS * 1000:.2f} ms)",
            "5 ms",
        ),
        Row(f"resuming when all {RUNS:,} runs are done", f"{again:.1f} s", "-"),
    ]


def throughput(machine: Machine) -> Row:
    """Runs per second of two labs at a time over those of one; the two take turns."""
    runs = plan(study_from(LABS))
    body_file(1_000_000)
    cores = available_cores()[:2]
    if len(cores) < 2:
        return Row("throughput of two labs over one", "one core only", "1.8")
    one, two = [], []
    for _ in range(ROUNDS):
        one.append(timed(lambda: carry_out(machine, cores[:1], runs)))
        two.append(timed(lambda: carry_out(machine, cores, runs)))
    ratios = [alone / both for alone, both in zip(one, two, strict=True)]
    shown = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return Row("throughput of two labs over one", shown, "1.8")


def carry_out(machine: Machine, cores: list[int], runs: tuple[Run, ...]) -> None:
    """Carry out runs and keep them."""
    with tempfile.TemporaryDirectory() as directory, Store.open(Path(directory) / "out") as store:

        def keep(done: Sequence[Record]) -> bool:
            store.add(done)
            return True

        LocalExecutor(machine, cores).execute(runs, store.artifacts, keep)
        failed = [record.error for record in store.records() if record.status is not Status.OK]
    if failed:
        raise SystemExit(f"a run failed: {failed[0]}")


def main() -> None:
    """Print the campaign's rows."""
    from headway.image.layers import layer_names
    from headway.lab.ready import ready_image, ready_machine

    print_rows([*overhead(), throughput(ready_machine(ready_image(layers=layer_names())))])


if __name__ == "__main__":
    main()
