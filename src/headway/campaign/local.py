"""Executing a plan on this machine: one lab per core."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.campaign.executor import Executor, Keep, explained
from headway.columns import Record
from headway.lab.batch import carry_out_together
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.cores import free_core
from headway.lab.machine import Machine
from headway.overriding import override
from headway.planning.boots import Boot, boots
from headway.planning.runs import Run
from headway.records.duplicate_runs import make_records
from headway.study.path import Path as NetworkPath

if TYPE_CHECKING:
    from headway.selftest.check import Check

_Finished = queue.SimpleQueue[Record | BaseException | None]
"""Records as they come; None or what went wrong when a worker ends."""


@dataclass(frozen=True)
class LocalExecutor(Executor):
    """Carries out runs on this machine.

    Attributes:
        machine: boots the labs.
        cores: one lab runs on each; where somebody else's does, on another one that is free.
    """

    is_here = True

    machine: Machine
    cores: Sequence[int]

    @property
    @override
    def machines(self) -> tuple[dict[str, object], ...]:
        return ()

    @override
    def check(
        self,
        paths: Sequence[NetworkPath],
        *,
        seed: int,
        directory: Path,
        on_path: Callable[[bool], None],
    ) -> tuple[Check, ...]:
        from headway.selftest.probing import check_paths

        return check_paths(
            self.machine, paths, seed=seed, directory=directory, cores=self.cores, on_path=on_path
        )

    @override
    def execute(self, runs: Sequence[Run], artifacts: Callable[[str], Path], keep: Keep) -> None:
        waiting: queue.SimpleQueue[Boot] = queue.SimpleQueue()
        for boot in boots(runs):
            waiting.put(boot)
        finished: _Finished = queue.SimpleQueue()
        cancellation = Cancellation()
        workers = [
            _Worker(core, waiting, finished, self.machine, artifacts, cancellation)
            for core in self.cores
        ]
        threads = [threading.Thread(target=worker.work, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        arrived: list[Record] = []
        try:
            _collect(finished, len(threads), arrived, keep)
        finally:
            _stop(threads, cancellation)
            arrived += [message for message in _waiting(finished) if isinstance(message, Record)]
            # If an interrupt came while some were being kept, they are kept twice, which is no harm.
            if arrived:
                keep(arrived)


@dataclass
class _Worker:
    """Carries out runs, preferably on one core, until none are left."""

    core: int
    boots: queue.SimpleQueue[Boot]
    finished: _Finished
    machine: Machine
    artifacts: Callable[[str], Path]
    cancellation: Cancellation

    def work(self) -> None:
        """Body of the worker's thread; ends with None or what went wrong."""
        try:
            while True:
                try:
                    boot = self.boots.get_nowait()
                except queue.Empty:
                    break
                for record in self._carry_out(boot):
                    self.finished.put(record)
            self.finished.put(None)
        except Cancelled:
            self.finished.put(None)
        except BaseException as error:
            self.finished.put(error)

    def _carry_out(self, boot: Boot) -> Iterator[Record]:
        directories = [self.artifacts(run.run_id) for run in boot.runs]
        for directory in directories:
            shutil.rmtree(directory, ignore_errors=True)
        with free_core(self.core) as core:
            results = carry_out_together(
                boot.runs, self.machine, directories, cpu=core, cancellation=self.cancellation
            )
            for alike, (run, directory, result) in zip(boot.alike, results, strict=True):
                for record, _ in make_records(run, alike, result, directory, self.artifacts):
                    yield record
        for run in boot.served:
            run.forget_deployment()


def _collect(finished: _Finished, working: int, arrived: list[Record], keep: Keep) -> None:
    """Keep records until all workers have ended, or it is enough; those that wait are kept together."""
    while working:
        for message in (finished.get(), *_waiting(finished)):
            if isinstance(message, Record):
                arrived.append(message)
            elif message is None:
                working -= 1
            else:
                raise explained(message)
        if arrived:
            goes_on = keep(arrived)
            arrived.clear()
            if not goes_on:
                return


def _waiting(finished: _Finished) -> list[Record | BaseException | None]:
    return [finished.get() for _ in range(finished.qsize())]


def _stop(threads: Sequence[threading.Thread], cancellation: Cancellation) -> None:
    cancellation.cancel()
    for thread in threads:
        thread.join()
    cancellation.close()
