"""Carrying out a study, from its plan to its table: what the command and the Python API share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from headway.cache import digest
from headway.campaign.costs import learn, taken_by
from headway.campaign.executor import Executor, explained
from headway.campaign.failfast import FailFast, HopelessError
from headway.campaign.feasibility import (
    all_remarks,
    check_installed,
    check_outside,
    checked_plan,
    needed_layers,
    outside_programs,
    remarks_of_short_form,
)
from headway.campaign.local import LocalExecutor
from headway.campaign.resume_check import GoingOn
from headway.campaign.rounds import Rounds
from headway.campaign.stages import Stages
from headway.campaign.task import LOCAL_CLUSTER, Task
from headway.campaign.watcher import Count, Watcher
from headway.columns import Record, Status
from headway.errors import HeadwayError, WrongInputError, counted, of_system
from headway.image import Image
from headway.lab.bodies import body_file
from headway.lab.cores import available_cores
from headway.lab.ready import ready_image, ready_machine
from headway.lab.videofiles import needed_videos, video_files
from headway.planning.runs import Run, distinct_paths
from headway.records.manifest import Manifest, read_manifest
from headway.records.provenance import make_manifest
from headway.records.sources import keep_sources
from headway.records.store import ARTIFACTS, Store
from headway.selftest.check import Check
from headway.study.experiment import Study
from headway.study.path import Path as NetworkPath
from headway.videos.content import VideoFiles

SELF_TEST_DIRECTORY = "self-test"
_TESTED_PATHS = "self_tested_paths"
_OF_THE_FIRST = ("created", "self_test", _TESTED_PATHS, "machines")
"""What a manifest keeps when a study goes on."""


def conduct(
    task: Task, watcher: Watcher, report: Callable[[Path], object] = lambda _: None
) -> None:
    """Carry out a study, or what is left of it; its directory then has a manifest and a table.

    Args:
        task: the study.
        watcher: is told how far it is.
        report: what is to be done with the results before another study may use their directory.

    Raises:
        WrongInputError: the study, the directory or the number of jobs cannot be right.
        HeadwayError: the host or the cluster failed, or every run of a contender; what is done is kept.
        KeyboardInterrupt: the user interrupted; what is done is kept.
    """
    runs = checked_plan(task.study, task.name, watcher)
    check_installed(runs, task.name)
    cores = _cores(task)
    notes = all_remarks(task.study, runs)
    for text in notes:
        watcher.warn(f"note: {text}")
    with Store.open(task.out, task.start) as store:
        image = ready_image(layers=needed_layers(runs))
        check_outside(runs)
        made = make_manifest(
            task.study,
            runs,
            image,
            task.command,
            notes,
            of_short_form=remarks_of_short_form(task.study, runs),
        )
        _check_comparable(made, task)
        manifest = _going_on(made, task, runs, store)
        try:
            keep_sources(task.study, task.command, store.directory)
            with _executor(task, runs, image, cores, watcher) as executor:
                _carry_out(task, runs, store, executor, manifest, watcher)
            store.write_table()
        except (KeyboardInterrupt, HeadwayError, OSError) as error:
            _keep_what_is_done(store, watcher)
            if store.is_there:
                # Why a study was given up says what can be done.
                go_on = "" if isinstance(error, HopelessError) else f"; {task.go_on}"
                done, most = _count(store), f"{task.study.at_most}{len(runs)}"
                watcher.note(f"{done} of {most} runs are kept in {store.directory}{go_on}")
            raise explained(error) from error
        report(store.directory)


def _cores(task: Task) -> list[int]:
    cores = available_cores()
    if task.jobs and task.cluster not in (None, LOCAL_CLUSTER):
        raise WrongInputError("a cluster runs one lab per core of its workers", where="--jobs")
    if task.jobs and task.jobs > len(cores):
        raise WrongInputError(f"this machine has {len(cores)} cores", where="--jobs")
    return cores[: task.jobs or None]


def _going_on(manifest: Manifest, task: Task, runs: tuple[Run, ...], store: Store) -> Manifest:
    """The manifest, in which what that of the first runs said stays, if these may stay."""
    before = store.manifest()
    if before is None:
        return manifest
    going_on = GoingOn(before, manifest, str(task.out))
    going_on.check_same_tools()
    going_on.check_same_looks()
    going_on.check_all_planned(store.each(), runs)
    going_on.check_same_runs(_staying(store, retry_failed=task.retry_failed), runs)
    # The command that made part of a study that has grown does not make the whole.
    kept = (*_OF_THE_FIRST, *(["command"] if going_on.is_same_study else []))
    known = before.model_fields_set
    return manifest.model_copy(update={key: getattr(before, key) for key in kept if key in known})


def _check_comparable(manifest: Manifest, task: Task) -> None:
    """Refuse what would take an hour, only to be compared with nothing."""
    other = task.compared_with and read_manifest(task.compared_with)
    if other:
        GoingOn(other, manifest, str(task.compared_with)).check_comparable()


@contextmanager
def _executor(
    task: Task, runs: Sequence[Run], image: Image, cores: Sequence[int], watcher: Watcher
) -> Iterator[Executor]:
    if task.cluster is None:
        yield LocalExecutor(ready_machine(image), cores)
        return
    # Imported here because it takes a second, and most studies need no cluster.
    from headway.campaign.cluster import cluster_executor

    address = None if task.cluster == LOCAL_CLUSTER else task.cluster
    outside = outside_programs(runs)
    with cluster_executor(address, len(cores), image, watcher, outside) as executor:
        yield executor


def _carry_out(
    task: Task,
    runs: tuple[Run, ...],
    store: Store,
    executor: Executor,
    manifest: Manifest,
    watcher: Watcher,
) -> None:
    # The manifest comes first: it tells whose records follow.
    store.write_manifest(manifest)
    manifest = _self_tested(manifest, runs, executor, store, watcher)
    store.write_manifest(manifest)
    names = set[str]()
    fail_fast = None if task.keep_going else FailFast(runs)
    for record in _staying(store, retry_failed=task.retry_failed):
        names.add(record.run_id)
        if fail_fast:
            fail_fast.hear([record])
    rounds = Rounds.of(task.study, runs)
    if names:
        watcher.note(f"{len(names)} of {task.study.at_most}{len(runs)} runs are done already")
    keeper = _Keeper(task.study, store, executor, fail_fast, watcher)
    # Most studies carry out all runs, whatever comes of them.
    while left := rounds.due(names, store.records() if rounds.may_end_sooner else ()):
        if executor.is_here:
            _make_served_files(left)
        keeper.carry_out(left)
        names |= {run.run_id for run in left}
    if rounds.may_end_sooner:
        watcher.note(_how_many(rounds, store))
    if keeper.taken and executor.is_here:
        learn(runs, keeper.taken)
    whole: dict[str, Any] = {"complete": True}
    if machines := _machines(manifest, executor):
        whole["machines"] = machines
    store.write_manifest(manifest.model_copy(update=whole))


def _make_served_files(runs: Sequence[Run]) -> None:
    """Make the bodies and the videos that servers of these runs deliver."""
    for size in sorted({size for run in runs for size in run.setting.served_sizes}):
        body_file(size)
    videos: dict[VideoFiles, None] = {}
    # By identity: repetitions share a setting, and no video depends on a seed.
    for run in {id(run.setting): run for run in runs}.values():
        videos |= dict.fromkeys(needed_videos(run.deployment))
        run.forget_deployment()
    for video in videos:
        video_files(video)


def _how_many(rounds: Rounds, store: Store) -> str:
    """How many runs were enough, and where."""
    done, most = _count(store), len(rounds.runs)
    return f"{done} of at most {most} runs; {rounds.stopped} of {rounds.groups} stopped before the last look"


def _machines(manifest: Manifest, executor: Executor) -> tuple[dict[str, Any], ...]:
    """The machines that carried out runs, beside this one."""
    known = manifest.machines
    return (*known, *(machine for machine in executor.machines if machine not in known))


def _self_tested(
    manifest: Manifest,
    runs: tuple[Run, ...],
    executor: Executor,
    store: Store,
    watcher: Watcher,
) -> Manifest:
    """The manifest with checks of all paths; those of a study that has grown are added."""
    paths = {digest(text): path for text, path in distinct_paths(runs).items()}
    tested = manifest.self_tested_paths
    new = [key for key in paths if key not in tested]
    if not new:
        return manifest
    directory = f"{SELF_TEST_DIRECTORY}-{len(tested)}" if tested else SELF_TEST_DIRECTORY
    checks = _self_test(
        [paths[key] for key in new], runs[0].seed, executor, store.artifacts(directory), watcher
    )
    known = manifest.self_test if tested else ()
    return manifest.model_copy(
        update={"self_test": (*known, *checks), _TESTED_PATHS: (*tested, *new)}
    )


def _self_test(
    paths: list[NetworkPath], seed: int, executor: Executor, directory: Path, watcher: Watcher
) -> list[Check]:
    with watcher.counting("checking the emulation", len(paths)) as count:
        checks = executor.check(paths, seed=seed, directory=directory, on_path=count)
    for check in checks:
        if not check.passed:
            watcher.warn(f"the emulation failed its self-test: {check}")
    return list(checks)


def _staying(store: Store, *, retry_failed: bool) -> Iterator[Record]:
    """Records of runs that are not carried out again."""
    return (record for record in store.each() if record.status is Status.OK or not retry_failed)


def _count(store: Store) -> int:
    return sum(1 for _ in store.each())


@dataclass
class _Keeper:
    """Has runs carried out; makes their records durable and counts them; says when to give up.

    Attributes:
        taken: what their labs took, by their names, for what is learnt from that.
    """

    study: Study
    store: Store
    executor: Executor
    fail_fast: FailFast | None
    watcher: Watcher
    taken: dict[str, float | None] = field(default_factory=dict)

    def carry_out(self, runs: Sequence[Run]) -> None:
        """Carry out runs, those of which others tell whether they come after these.

        Raises:
            HopelessError: it is of no use to go on.
        """
        stages = Stages.of(self.study, runs)
        self._execute(stages.certain, "running labs")
        if stages.possible:
            come = stages.that_come(self.store.records())
            if missed := len(stages.possible) - len(come):
                self.watcher.note(
                    f"{counted(missed, 'fault')} of packets that no transfer has, left out"
                )
            self._execute(come, "running labs, a fault in each")

    def _execute(self, runs: Sequence[Run], doing: str) -> None:
        if not runs:
            return
        with self.watcher.counting(doing, len(runs)) as count:
            if self._hopeless is None:
                self.executor.execute(runs, self.store.artifacts, partial(self._keep, count))
        if self._hopeless:
            raise HopelessError(self._hopeless)

    def _keep(self, count: Count, records: Sequence[Record]) -> bool:
        try:
            self.store.add(records)
        except OSError as error:
            raise explained(error) from error
        self.taken |= taken_by(records)
        for record in records:
            count(record.status is Status.OK)
        if self.fail_fast:
            self.fail_fast.hear(records)
        return self._hopeless is None

    @property
    def _hopeless(self) -> str | None:
        """Why the study is given up; None if it goes on."""
        return self.fail_fast.verdict(self.store.directory / ARTIFACTS) if self.fail_fast else None


def _keep_what_is_done(store: Store, watcher: Watcher) -> None:
    try:
        if store.is_there and next(store.each(), None):
            store.write_table()
    except OSError as error:
        watcher.warn(f"the table could not be written: {of_system(error)}")
