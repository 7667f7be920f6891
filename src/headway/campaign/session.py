"""Carrying out a study, from its plan to its table: what the command and the Python API share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from headway.campaign.checks import all_remarks, check_installed, checked_plan, first_repetition
from headway.campaign.cores import available_cores
from headway.campaign.costs import learn
from headway.campaign.executor import Executor, explained
from headway.campaign.local import LocalExecutor
from headway.campaign.sameness import check_same
from headway.campaign.task import LOCAL_CLUSTER, Task
from headway.campaign.watcher import Count, Watcher
from headway.errors import HeadwayError, WrongInputError
from headway.lab.bodies import body_file
from headway.lab.image import Image
from headway.lab.ready import ready_image, ready_machine
from headway.results.provenance import make_manifest
from headway.results.schema import Record, Status
from headway.results.store import Store
from headway.study.path import Path as NetworkPath
from headway.study.plan import Run

SELF_TEST_DIRECTORY = "self-test"
_OF_THE_FIRST = ("command", "created", "self_test", "machines")
"""What a manifest keeps when a study goes on."""


def conduct(task: Task, watcher: Watcher) -> None:
    """Carry out a study, or what is left of it; its directory then has a manifest and a table.

    Raises:
        WrongInputError: the study, the directory or the number of jobs cannot be right.
        HeadwayError: the host or the cluster failed; what is done is kept.
        KeyboardInterrupt: the user interrupted; what is done is kept.
    """
    runs = checked_plan(task.study, task.name)
    check_installed(runs, task.name)
    cores = _cores(task)
    for text in all_remarks(runs):
        watcher.warn(f"note: {text}")
    with Store.open(task.out, task.start) as store:
        image = ready_image()
        before = store.manifest()
        manifest = _manifest(task, runs, image, before)
        try:
            with _executor(task, image, cores, watcher) as executor:
                _carry_out(task, runs, store, executor, manifest, watcher)
        except (KeyboardInterrupt, HeadwayError):
            _keep_what_is_done(task, store, len(runs), watcher)
            raise
        store.write_table()


def _cores(task: Task) -> list[int]:
    cores = available_cores()
    if task.jobs and task.cluster not in (None, LOCAL_CLUSTER):
        raise WrongInputError("a cluster runs one lab per core of its workers", where="--jobs")
    if task.jobs and task.jobs > len(cores):
        raise WrongInputError(f"this machine has {len(cores)} cores", where="--jobs")
    return cores[: task.jobs or None]


def _manifest(
    task: Task, runs: tuple[Run, ...], image: Image, before: dict[str, Any] | None
) -> dict[str, Any]:
    """The manifest: what the first run of the command said stays, if the study is the same."""
    made = make_manifest(task.study, runs, image, []) | {"command": task.command}
    manifest: dict[str, Any] = json.loads(json.dumps(made))
    if before is None:
        return manifest
    check_same(before, manifest, str(task.out))
    return manifest | {key: before[key] for key in _OF_THE_FIRST if key in before}


@contextmanager
def _executor(
    task: Task, image: Image, cores: Sequence[int], watcher: Watcher
) -> Iterator[Executor]:
    if task.cluster is None:
        yield LocalExecutor(ready_machine(image), cores)
        return
    # Imported here because it takes a second, and most studies need no cluster.
    from headway.campaign.cluster import cluster_executor

    address = None if task.cluster == LOCAL_CLUSTER else task.cluster
    with cluster_executor(address, len(cores), image, watcher) as executor:
        yield executor


def _carry_out(
    task: Task,
    runs: tuple[Run, ...],
    store: Store,
    executor: Executor,
    manifest: dict[str, Any],
    watcher: Watcher,
) -> None:
    # The manifest comes first: it tells whose records follow.
    store.write_manifest(manifest)
    if not manifest["self_test"]:
        manifest = manifest | {"self_test": _self_test(runs, executor, store, watcher)}
        store.write_manifest(manifest)
    left = _left(runs, store.records(), retry_failed=task.retry_failed)
    if len(left) < len(runs):
        watcher.note(f"{len(runs) - len(left)} of {len(runs)} runs are done already")
    if not left:
        return
    here = isinstance(executor, LocalExecutor)
    if here:
        for size in sorted({size for run in left for size in run.setting.served_sizes}):
            body_file(size)
    with watcher.counting("running labs", len(left)) as count:
        keeper = _Keeper(store, count)
        executor.execute(left, store.artifacts, keeper)
    if here:
        learn(keeper.kept)
    if machines := _machines(manifest, executor):
        store.write_manifest(manifest | {"machines": machines})


def _machines(manifest: dict[str, Any], executor: Executor) -> list[dict[str, object]]:
    """The machines that carried out runs, beside this one."""
    known: list[dict[str, object]] = manifest.get("machines", [])
    return [*known, *(machine for machine in executor.machines if machine not in known)]


def _self_test(
    runs: tuple[Run, ...], executor: Executor, store: Store, watcher: Watcher
) -> list[dict[str, Any]]:
    paths = _distinct_paths(runs)
    with watcher.counting("checking the emulation", len(paths)) as count:
        checks = executor.check(
            paths,
            seed=runs[0].seed,
            directory=store.artifacts(SELF_TEST_DIRECTORY),
            on_path=count,
        )
    for check in checks:
        if not check.passed:
            watcher.warn(f"the emulation failed its self-test: {check}")
    return [check.as_json() for check in checks]


def _distinct_paths(runs: tuple[Run, ...]) -> list[NetworkPath]:
    paths = (path for run in first_repetition(runs) for path in run.setting.paths if path)
    return list({path.model_dump_json(): path for path in paths}.values())


def _left(runs: tuple[Run, ...], records: list[Record], *, retry_failed: bool) -> list[Run]:
    """Runs that have no record yet, or one that is not to stay."""
    done = {record.run_id for record in records if record.status is Status.OK or not retry_failed}
    return [run for run in runs if run.run_id not in done]


@dataclass(frozen=True)
class _Keeper:
    """Makes records durable, counts and remembers them."""

    store: Store
    count: Count
    kept: list[Record] = field(default_factory=list)

    def __call__(self, records: Sequence[Record]) -> None:
        try:
            self.store.add(records)
        except OSError as error:
            raise explained(error) from error
        self.kept.extend(records)
        for record in records:
            self.count(record.status is Status.OK)


def _keep_what_is_done(task: Task, store: Store, planned: int, watcher: Watcher) -> None:
    done = len(store.records())
    if done:
        try:
            store.write_table()
        except OSError as error:
            watcher.warn(f"the table could not be written: {error.strerror}")
    watcher.note(f"{done} of {planned} runs are kept in {store.directory}; {task.go_on}")
