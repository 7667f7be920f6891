"""Executing a plan on a Dask cluster: one lab per core of its workers."""

from __future__ import annotations

import importlib.metadata
import json
import logging
import shutil
import signal
import tempfile
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from distributed import Client, Future, KilledWorker, LocalCluster, wait

from headway.campaign.executor import Executor, Keep, explained
from headway.campaign.imageparts import ImagePart, ImageParts, pack
from headway.campaign.watcher import Watcher
from headway.campaign.worker import (
    Demand,
    Introduction,
    NotReady,
    carry_out_here,
    check_here,
    end_labs,
    introduce,
    receive,
    unpack,
    unpack_artifacts,
)
from headway.columns import Record
from headway.contract.outcome import Outcome
from headway.errors import HeadwayError, WrongInputError
from headway.image import Image, installed_extras
from headway.lab.run import Result
from headway.overriding import override
from headway.planning.boots import Boot, boots
from headway.planning.runs import Run
from headway.programs.measurement import Measurement
from headway.records.provenance import source_key
from headway.records.record import make_record
from headway.study.path import Path as NetworkPath
from headway.study.user_programs import OutsideProgram
from headway.version import VERSION

if TYPE_CHECKING:
    from headway.selftest.check import Check

_CONNECT_S = 10
_SCHEDULER_FILE = ".json"
"""What ends the name of a scheduler's file: there its address stands, as on machines where a job's is not known before."""
_SCHEDULER_COMES_S = 30
_POLL_S = 0.1
_WORKERS_COME_S = 30
_CHUNK_BYTES = 16 * 2**20
_AHEAD = 2
"""Tasks for each thread of a worker, so that the next one waits there when a lab ends."""
_LOOK_FOR_WORKERS_S = 5

# A terminal's Ctrl-C reaches all processes; the workers of this machine leave it to the client.
_PRELOAD = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"

_Item = TypeVar("_Item")


@contextmanager
def cluster_executor(
    address: str | None,
    labs: int,
    image: Image,
    watcher: Watcher,
    outside: Iterable[OutsideProgram] = (),
) -> Iterator[ClusterExecutor]:
    """Connect to a cluster and make its workers ready.

    Args:
        address: of the scheduler, or its file; None for a cluster on this machine that ends with the context.
        labs: workers of a cluster on this machine.
        image: what labs boot.
        watcher: is told what the workers are and what they are sent.
        outside: programs from outside that the study has.

    Raises:
        WrongInputError: no address of a scheduler.
        HeadwayError: there is no scheduler, or no workers, or they have another Headway.
    """
    with _client(address, labs) as client:
        demand = Demand(uuid.uuid4().hex, ImageParts.of(image, installed_extras(), outside))
        executor = ClusterExecutor(client, demand, watcher)
        try:
            executor.prepare()
            yield executor
        finally:
            executor.end()


@contextmanager
def _client(address: str | None, labs: int) -> Iterator[Client]:
    if address is None:
        with (
            tempfile.TemporaryDirectory(prefix="headway-cluster-") as scratch,
            _local_cluster(labs, scratch) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    where = f"--cluster {address}"
    if address.endswith(_SCHEDULER_FILE):
        address = _written(Path(address), where)
    try:
        client = Client(address, timeout=_CONNECT_S)
    except ValueError as error:
        raise WrongInputError(
            f"not the address of a Dask scheduler, such as tcp://host:8786: {error}", where=where
        ) from None
    except OSError:
        raise HeadwayError(f"no Dask scheduler answers at {address}") from None
    with client:
        yield client


def _written(file: Path, where: str) -> str:
    """The address in a scheduler's file, which the scheduler may still have to write."""
    if not file.parent.is_dir():
        raise WrongInputError("there is no such directory", where=f"{where}: {file.parent}")
    end = time.monotonic() + _SCHEDULER_COMES_S
    while time.monotonic() < end:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(_POLL_S)
    raise WrongInputError(
        f"a scheduler has written no address there within {_SCHEDULER_COMES_S} s "
        "(`dask scheduler --scheduler-file` does)",
        where=where,
    )


def _local_cluster(labs: int, scratch: str) -> LocalCluster:
    # As with Ctrl-C, that a terminal is closed is the client's to hear: what is blocked now stays so in
    # the cluster's thread and in all processes that it starts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        return LocalCluster(
            n_workers=labs,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=scratch,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            preload=_PRELOAD,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class ClusterExecutor(Executor):
    """Carries out runs on the workers of a cluster.

    Attributes:
        client: the connection to the scheduler.
        demand: what the workers need.
        watcher: is told what happens to workers.
    """

    is_here = False

    client: Client
    demand: Demand
    watcher: Watcher
    _machines: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    @override
    def machines(self) -> tuple[dict[str, object], ...]:
        return tuple(self._machines.values())

    def prepare(self, workers: list[str] | None = None) -> None:
        """Make workers ready: compare versions, and send what their caches lack.

        Args:
            workers: their addresses; all that there are if None.

        Raises:
            HeadwayError: there are none, or they have no Headway or another one.
        """
        if workers is None:
            try:
                self.client.wait_for_workers(1, timeout=_WORKERS_COME_S)
            except TimeoutError:
                raise HeadwayError("the cluster has no workers") from None
        self._compare_versions(workers)
        introduced: dict[str, Introduction] = self.client.run(
            introduce, self.demand, workers=workers
        )
        for address, worker in introduced.items():
            if worker.source != source_key():
                raise HeadwayError(
                    f"{_name(address, worker)} has Headway {VERSION} with other source code; "
                    "install the same on all workers"
                )
        self._send_missing(introduced)
        for worker in introduced.values():
            self._machines.setdefault(worker.host, worker.facts)

    def _compare_versions(self, workers: list[str] | None) -> None:
        # A function of the standard library: every worker knows it, whatever Headway it has.
        versions = self.client.run(
            importlib.metadata.version, "headway", workers=workers, on_error="return"
        )
        for address, version in versions.items():
            if version != VERSION:
                there = "no Headway" if isinstance(version, Exception) else f"Headway {version}"
                raise HeadwayError(
                    f"worker {address} has {there}; install {VERSION} there, as it is here"
                )

    def _send_missing(self, introduced: dict[str, Introduction]) -> None:
        # Workers of a machine share its cache: one of them receives.
        places = {
            (introduction.host, introduction.cache): address
            for address, introduction in introduced.items()
        }
        receivers = list(places.values())
        hosts = ", ".join(sorted({introduced[address].host for address in receivers}))
        self.watcher.note(f"{len(introduced)} workers on {hosts}")
        for part in self.demand.parts.all:
            lacking = [address for address in receivers if part in introduced[address].missing]
            if lacking:
                self._send(part, lacking, [introduced[address].host for address in lacking])

    def _send(self, part: ImagePart, workers: list[str], hosts: list[str]) -> None:
        entry = part.place()
        assert entry is not None
        self.watcher.note(f"sending {part.name} to {', '.join(hosts)}")
        transfer = uuid.uuid4().hex
        pack(
            entry,
            _CHUNK_BYTES,
            lambda chunk: self.client.run(receive, transfer, chunk, workers=workers),
        )
        self.client.run(unpack, transfer, part, workers=workers)

    @override
    def check(
        self,
        paths: Sequence[NetworkPath],
        *,
        seed: int,
        directory: Path,
        on_path: Callable[[bool], None],
    ) -> tuple[Check, ...]:
        checks: dict[int, tuple[Check, ...]] = {}
        for place, result in chain.from_iterable(
            self._results(
                lambda place: self._submit(check_here, paths[place], seed), range(len(paths))
            )
        ):
            if isinstance(result, KilledWorker):
                raise HeadwayError(f"the self-test could not be done: {result}")
            checks[place] = result
            on_path(all(check.passed for check in result))
        return tuple(check for place in sorted(checks) for check in checks[place])

    @override
    def execute(self, runs: Sequence[Run], artifacts: Callable[[str], Path], keep: Keep) -> None:
        for results in self._results(lambda boot: self._submit(carry_out_here, boot), boots(runs)):
            records = [record for result in results for record in _received(*result, artifacts)]
            if records and not keep(records):
                return

    def end(self) -> None:
        """End what still runs on the workers; nothing of this study is started there any more."""
        # The cluster may be what failed.
        with suppress(Exception):
            self.client.run(end_labs, self.demand.study_id)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        return self.client.submit(function, *arguments, self.demand, pure=False)

    def _results(
        self, submit: Callable[[_Item], Future], items: Sequence[_Item]
    ) -> Iterator[list[tuple[_Item, Any]]]:
        """Results as they come, together if they came together.

        For an item whose workers were killed again and again, the result is that.
        """
        flow = _Backlog(self.client, submit, deque(items), self.watcher)
        try:
            while flow.has_more():
                results = flow.next_results()
                for job, result in results:
                    if isinstance(result, NotReady):
                        self.prepare([result.worker])
                        flow.waiting.appendleft(job)
                yield [pair for pair in results if not isinstance(pair[1], NotReady)]
        finally:
            flow.cancel()


@dataclass
class _Backlog(Generic[_Item]):
    """Items that wait, and tasks that are on the cluster: a few more than it has threads."""

    client: Client
    submit: Callable[[_Item], Future]
    waiting: deque[_Item]
    watcher: Watcher
    flying: dict[Future, _Item] = field(default_factory=dict)
    _told: bool = False

    def has_more(self) -> bool:
        """Whether there are items without results."""
        return bool(self.waiting or self.flying)

    def next_results(self) -> list[tuple[_Item, Any]]:
        """What comes next; waits for it."""
        room = max(_AHEAD * sum(self.client.nthreads().values()), 1)
        while self.waiting and len(self.flying) < room:
            job = self.waiting.popleft()
            self.flying[self.submit(job)] = job
        try:
            done = wait(
                list(self.flying), timeout=_LOOK_FOR_WORKERS_S, return_when="FIRST_COMPLETED"
            ).done
        except TimeoutError:
            self._look_for_workers()
            return []
        except CancelledError:
            raise _lost() from None
        return [(self.flying.pop(future), _result(future)) for future in done]

    def _look_for_workers(self) -> None:
        if self.client.status != "running":
            raise _lost()
        if self.client.nthreads():
            self._told = False
        elif not self._told:
            self.watcher.warn("the cluster has no workers left; waiting for one")
            self._told = True

    def cancel(self) -> None:
        """Take back what is still on the cluster."""
        with suppress(Exception):
            self.client.cancel(list(self.flying))


def _received(boot: Boot, result: Any, artifacts: Callable[[str], Path]) -> list[Record]:
    """Records of the runs that a boot served; what they left is put into their directories."""
    directories = [artifacts(run.run_id) for run in boot.served]
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    if isinstance(result, KilledWorker):
        return [_without_worker(*pair) for pair in zip(boot.served, directories, strict=True)]
    for finished, directory in zip(result, directories, strict=True):
        unpack_artifacts(finished.artifacts, directory)
    return [finished.record for finished in result]


def _result(future: Future) -> Any:
    try:
        return future.result()
    except KilledWorker as killed:
        return killed
    except CancelledError:
        raise _lost() from None
    except OSError as error:
        raise explained(error) from error


def _lost() -> HeadwayError:
    return HeadwayError("the connection to the cluster was lost")


def _without_worker(run: Run, directory: Path) -> Record:
    """The record of a run that no worker survived."""
    outcome = Outcome("failed", "its worker was killed, and so were others that tried", 0, "")
    measured = (Measurement(),) * len(run.deployment.flows)
    return make_record(run, Result(outcome, measured, 0.0, 0.0), directory)


def _name(address: str, worker: Introduction) -> str:
    return f"worker {address} on {worker.host}"
