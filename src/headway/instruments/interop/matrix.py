"""A matrix: pairs of stacks, their cases and seeds, carried out by several processes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from headway.instruments.interop.case import InteropCase
from headway.instruments.interop.conduct import Conduct
from headway.instruments.interop.stack import Stack
from headway.instruments.interop.stackpair import StackPair
from headway.instruments.interop.verdict import CaseResult, CaseVerdict
from headway.lab.cores import available_cores, free_core
from headway.lab.machine import Machine

OUTPUT_FILE = "output.txt"


@dataclass(frozen=True)
class MatrixCell:
    """A pair in a case, and what came of each seed, in the order of seeds."""

    pairing: StackPair
    verdicts: tuple[tuple[int, CaseVerdict], ...]

    @property
    def result(self) -> CaseResult:
        """It fails if it fails with any seed."""
        results = {verdict.result for _, verdict in self.verdicts}
        if CaseResult.FAILED in results:
            return CaseResult.FAILED
        return CaseResult.SUCCEEDED if results == {CaseResult.SUCCEEDED} else CaseResult.UNSUPPORTED

    @property
    def failed_seeds(self) -> tuple[int, ...]:
        """Seeds with which it failed."""
        return self._seeds(CaseResult.FAILED)

    @property
    def succeeded_seeds(self) -> tuple[int, ...]:
        """Seeds with which it succeeded."""
        return self._seeds(CaseResult.SUCCEEDED)

    def _seeds(self, result: CaseResult) -> tuple[int, ...]:
        return tuple(seed for seed, verdict in self.verdicts if verdict.result is result)

    @property
    def reason(self) -> str:
        """Why the first seed failed that did; of a success what there is to be said of the first seed."""
        if not self.verdicts:
            return self.pairing.obstacle
        wanted = self.result
        return next(verdict.reason for _, verdict in self.verdicts if verdict.result is wanted)


@dataclass(frozen=True)
class Matrix:
    """What is tried.

    Attributes:
        clients: stacks that ask.
        servers: stacks that answer.
        cases: the test cases.
        seeds: of everything random.
        include: a stack that every pair has to include; empty for all pairs.
    """

    clients: Sequence[Stack]
    servers: Sequence[Stack]
    cases: Sequence[InteropCase]
    seeds: Sequence[int]
    include: str = ""

    @property
    def pairs(self) -> Iterator[tuple[Stack, Stack]]:
        """Clients with servers."""
        for client in self.clients:
            for server in self.servers:
                if self.include in ("", client.name, server.name):
                    yield client, server

    @property
    def pairings(self) -> list[StackPair]:
        """All pairs in all cases."""
        return [
            StackPair.of(client, server, case)
            for client, server in self.pairs
            for case in self.cases
        ]


@dataclass(frozen=True)
class _Task:
    pairing: StackPair
    seed: int
    directory: Path


@dataclass(frozen=True)
class Logs:
    """Where logs are, laid out as the runner's: ``SERVER_CLIENT/CASE``, and below that the seed if there are several.

    Attributes:
        directory: of all logs.
        keeps_all: whether those of runs that succeeded are kept, too.
    """

    directory: Path
    keeps_all: bool = False

    def of(self, pairing: StackPair, seed: int, *, several: bool) -> Path:
        """The directory of a run."""
        pair = f"{pairing.server.name}_{pairing.client.name}"
        place = self.directory / pair / pairing.case.name
        return place / str(seed) if several else place


_TASKS: list[_Task] = []
"""Those of the matrix that is carried out: worker processes inherit them, since cases of one's own cannot be sent."""
_SETTING: list[tuple[Conduct, bool]] = []


def carry_out(
    matrix: Matrix,
    machine: Machine,
    logs: Logs,
    jobs: int,
    report: Callable[[StackPair, int, CaseVerdict], None],
) -> list[MatrixCell]:
    """Carry a matrix out.

    Args:
        matrix: what is tried.
        machine: boots labs.
        logs: where logs go.
        jobs: so many labs at a time.
        report: is told every verdict, as it comes.

    Returns:
        A cell for each pair in each case, in their order.
    """
    pairings, several = matrix.pairings, len(matrix.seeds) > 1
    tasks = [
        _Task(pairing, seed, logs.of(pairing, seed, several=several))
        for pairing in pairings
        if not pairing.obstacle
        for seed in matrix.seeds
    ]
    _TASKS[:], _SETTING[:] = tasks, [(Conduct(machine), logs.keeps_all)]
    verdicts: dict[int, CaseVerdict] = {}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
        futures = {pool.submit(_carried_out, number): number for number in range(len(tasks))}
        try:
            for future in as_completed(futures):
                number = futures[future]
                verdicts[number] = future.result()
                report(tasks[number].pairing, tasks[number].seed, verdicts[number])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    of_pairing: dict[int, list[tuple[int, CaseVerdict]]] = {}
    for number, task in enumerate(tasks):
        of_pairing.setdefault(id(task.pairing), []).append((task.seed, verdicts[number]))
    return [MatrixCell(pairing, tuple(of_pairing.get(id(pairing), ()))) for pairing in pairings]


def _carried_out(number: int) -> CaseVerdict:
    """In a worker process: one run, and what is kept of it."""
    task, (conduct, keeps_all) = _TASKS[number], _SETTING[0]
    cores = available_cores()
    with free_core(cores[os.getpid() % len(cores)]) as core:
        verdict = conduct.carry_out(task.pairing, task.seed, task.directory, cpu=core)
    text = f"{task.pairing.words}, seed {task.seed}: {verdict.result}\n{verdict.reason}\n"
    (task.directory / OUTPUT_FILE).write_text(text, encoding="utf-8")
    if not keeps_all:
        _thin(task.directory, failed=verdict.result is CaseResult.FAILED)
    return verdict


def _thin(directory: Path, *, failed: bool) -> None:
    """Remove what nobody looks for: of a run that failed what it downloaded, of others all but the verdict."""
    if failed:
        shutil.rmtree(directory / "client" / "downloads", ignore_errors=True)
        return
    for entry in directory.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != OUTPUT_FILE:
            entry.unlink()
