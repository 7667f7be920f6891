"""Executing a plan on this machine: one lab per core."""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from headway.errors import HeadwayError
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.results.record import make_record
from headway.results.schema import Record
from headway.results.store import Store
from headway.study.plan import Run

_WORKER_STOPS_S = 10.0


def available_cores() -> list[int]:
    """Cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


@dataclass
class _Worker:
    """Carries out runs on one core until none are left."""

    core: int
    runs: queue.SimpleQueue[Run]
    finished: queue.SimpleQueue[Record | BaseException | None]
    machine: Machine
    store: Store
    cancellation: Cancellation

    def work(self) -> None:
        """Body of the worker's thread; ends with None or what went wrong."""
        try:
            while True:
                try:
                    run = self.runs.get_nowait()
                except queue.Empty:
                    break
                self.finished.put(self._one(run))
            self.finished.put(None)
        except Cancelled:
            self.finished.put(None)
        except BaseException as error:
            self.finished.put(error)

    def _one(self, run: Run) -> Record:
        directory = self.store.artifacts(run.run_id)
        result = carry_out(
            run, self.machine, directory, cpu=self.core, cancellation=self.cancellation
        )
        record = make_record(run, result, directory)
        self.store.add(record)
        return record


def execute(
    runs: tuple[Run, ...],
    machine: Machine,
    store: Store,
    *,
    cores: list[int],
    on_record: Callable[[Record], None],
) -> None:
    """Carry out runs, one lab per core, and store every record as soon as it is there.

    Args:
        runs: in the order in which they are started.
        machine: boots the labs.
        store: keeps the records.
        cores: one lab runs on each.
        on_record: called with every finished run's record.

    Raises:
        HeadwayError: the host failed, for example has no space left; finished runs are kept.
        KeyboardInterrupt: the user interrupted; labs are ended, finished runs are kept.
    """
    waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
    for run in runs:
        waiting.put(run)
    finished: queue.SimpleQueue[Record | BaseException | None] = queue.SimpleQueue()
    cancellation = Cancellation()
    threads = [
        threading.Thread(
            target=_Worker(core, waiting, finished, machine, store, cancellation).work, daemon=True
        )
        for core in cores
    ]
    for thread in threads:
        thread.start()
    try:
        _collect(finished, len(threads), on_record)
    finally:
        cancellation.cancel()
        for thread in threads:
            thread.join(_WORKER_STOPS_S)
        cancellation.close()


def _collect(
    finished: queue.SimpleQueue[Record | BaseException | None],
    working: int,
    on_record: Callable[[Record], None],
) -> None:
    while working:
        item = finished.get()
        if item is None:
            working -= 1
        elif isinstance(item, Record):
            on_record(item)
        elif isinstance(item, OSError) and item.errno in (errno.ENOSPC, errno.EDQUOT):
            where = f" ({item.filename})" if item.filename else ""
            raise HeadwayError(f"no space left for results{where}") from item
        else:
            raise item
