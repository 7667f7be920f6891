"""A study on a cluster whose one worker is in this process, with labs replaced."""

from __future__ import annotations

import itertools
import select
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client, KilledWorker, LocalCluster

from headway.campaign import cluster, session, worker
from headway.campaign.cluster import ClusterExecutor
from headway.campaign.imageparts import ImagePart, ImageParts
from headway.campaign.local import LocalExecutor
from headway.campaign.task import LOCAL_CLUSTER, Task
from headway.campaign.watcher import SilentWatcher
from headway.campaign.worker import Demand, NotReady
from headway.columns import Record, Status
from headway.contract.orders import Orders
from headway.contract.outcome import Outcome
from headway.errors import HeadwayError, WrongInputError
from headway.lab.cancel import Cancelled
from headway.planning.runs import plan
from headway.study.load import load_study
from tests.stub_lab import StubMachine, keeping, replace_bodies, stub_image

RUNS = plan(load_study("quickstart"))[:12]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as started,
        Client(started) as connected,
    ):
        yield connected


@pytest.fixture
def executor(client: Client, monkeypatch: pytest.MonkeyPatch) -> ClusterExecutor:
    part = ImagePart("image", "kernel-k", "")
    machine = StubMachine(stub_image(), Path(), fresh=False)
    monkeypatch.setattr(worker, "_machine", lambda _: machine)
    replace_bodies(monkeypatch)
    monkeypatch.setattr(ImageParts, "missing", lambda _: ())
    return ClusterExecutor(
        client, Demand(uuid.uuid4().hex, ImageParts("key", part, part, part, {})), SilentWatcher()
    )


def execute(executor: ClusterExecutor, directory: Path) -> list[Record]:
    kept: list[Record] = []
    executor.execute(RUNS, lambda name: directory / name, keeping(kept))
    return kept


def test_every_run_comes_back_with_what_it_left(executor: ClusterExecutor, tmp_path: Path) -> None:
    executor.prepare()
    stale = tmp_path / RUNS[0].run_id / "stale"
    stale.parent.mkdir()
    stale.touch()
    kept = execute(executor, tmp_path)
    assert sorted(record.run_id for record in kept) == sorted(run.run_id for run in RUNS)
    assert {record.status for record in kept} == {Status.OK}
    for one in RUNS:
        assert (tmp_path / one.run_id / "curl.out").read_text().startswith("{")
    assert not stale.exists()
    assert [machine["python"] for machine in executor.machines]


def test_when_it_is_enough_no_other_runs_are_started(
    executor: ClusterExecutor, tmp_path: Path
) -> None:
    kept: list[Record] = []

    def enough(records: Sequence[Record]) -> bool:
        kept.extend(records)
        return len(kept) < 3

    executor.execute(RUNS, lambda name: tmp_path / name, enough)
    assert 3 <= len(kept) < len(RUNS)


def test_large_files_stay_behind_unless_captures_are_asked_for(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "small").write_bytes(b"x")
    (run / "large").write_bytes(bytes(1000))
    for limit, names in ((10, {"small", worker.LEFT_BEHIND_FILE}), (None, {"small", "large"})):
        there = tmp_path / str(limit)
        there.mkdir()
        worker.unpack_artifacts(worker._pack(run, limit), there)
        assert {file.name for file in there.iterdir()} == names
    assert (tmp_path / "10" / worker.LEFT_BEHIND_FILE).read_text() == "large 1000 bytes\n"


def test_a_run_that_kills_its_workers_is_a_failed_row(
    executor: ClusterExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(*_: Any) -> None:
        raise KilledWorker("task", SimpleNamespace(address="tcp://gone"), 3)

    monkeypatch.setattr(cluster, "carry_out_here", deadly)
    kept = execute(executor, tmp_path)
    assert {record.status for record in kept} == {Status.FAILED}
    assert {record.error for record in kept} == {
        "its worker was killed, and so were others that tried"
    }


def test_a_worker_that_came_later_is_made_ready(
    executor: ClusterExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[list[str] | None] = []
    carry_out_here = cluster.carry_out_here

    def not_at_first(*arguments: Any) -> Any:
        return carry_out_here(*arguments) if prepared else NotReady("inproc://late")

    monkeypatch.setattr(cluster, "carry_out_here", not_at_first)
    monkeypatch.setattr(executor, "prepare", prepared.append)
    assert len(execute(executor, tmp_path)) == len(RUNS)
    assert ["inproc://late"] in prepared


def test_an_interrupt_ends_labs_on_the_workers(
    executor: ClusterExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = threading.Event(), threading.Event()
    boot = StubMachine.boot

    boots = itertools.count()

    def endless(self: StubMachine, orders: Orders, directory: Path, **more: Any) -> Outcome:
        if next(boots) == 0:
            return boot(self, orders, directory)
        # A lab that would run for ever: only the cancellation ends it.
        began.set()
        select.select([more["cancellation"]], [], [])
        ended.set()
        raise Cancelled

    kept: list[Record] = []

    def interrupted(records: Sequence[Record]) -> None:
        kept.extend(records)
        began.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(StubMachine, "boot", endless)
    with pytest.raises(KeyboardInterrupt):
        executor.execute(RUNS, lambda name: tmp_path / name, interrupted)
    executor.end()
    assert len(kept) == 1
    ended.wait()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("VERSION", "9.9", "has Headway 0.1.0; install 9.9 there"),
        ("source_key", lambda: "other", "other source code"),
    ],
)
def test_another_headway_on_a_worker_is_an_error(
    executor: ClusterExecutor,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str | Callable[[], str],
    said: str,
) -> None:
    monkeypatch.setattr(cluster, name, value)
    with pytest.raises(HeadwayError, match=said):
        executor.prepare()


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.2)
    monkeypatch.setattr(cluster, "installed_extras", dict)
    with (
        pytest.raises(HeadwayError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        cluster.cluster_executor("tcp://127.0.0.1:1", 1, stub_image(), SilentWatcher()),
    ):
        pass
    with (
        pytest.raises(WrongInputError, match="not the address of a Dask scheduler"),
        cluster.cluster_executor("nonsense", 1, stub_image(), SilentWatcher()),
    ):
        pass


def test_a_scheduler_may_write_its_address_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.2)
    monkeypatch.setattr(cluster, "installed_extras", dict)
    file = tmp_path / "scheduler.json"
    contents = iter(["", "[1]", '{"address": "tcp://127.0.0.1:1"}'])
    monkeypatch.setattr(cluster.time, "sleep", lambda _: file.write_text(next(contents)))
    with (
        pytest.raises(HeadwayError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        cluster.cluster_executor(str(file), 1, stub_image(), SilentWatcher()),
    ):
        pass
    assert not list(contents)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("scheduler.json", "has written no address"), ("gone/scheduler.json", "no such directory")],
)
def test_a_scheduler_that_writes_no_address_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, reason: str
) -> None:
    monkeypatch.setattr(cluster, "_SCHEDULER_COMES_S", 0)
    monkeypatch.setattr(cluster, "installed_extras", dict)
    with (
        pytest.raises(WrongInputError, match=reason),
        cluster.cluster_executor(str(tmp_path / name), 1, stub_image(), SilentWatcher()),
    ):
        pass


@pytest.mark.parametrize(
    ("asked", "address"), [(LOCAL_CLUSTER, None), ("tcp://192.0.2.1:8786", "tcp://192.0.2.1:8786")]
)
def test_a_study_is_carried_out_on_the_cluster_that_its_task_names(
    asked: str, address: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is a cluster of this machine's own."""
    given: list[tuple[Any, ...]] = []

    @contextmanager
    def connected(*words: Any) -> Iterator[str]:
        given.append(words)
        yield "executor"

    monkeypatch.setattr(cluster, "cluster_executor", connected)
    task = Task(load_study("quickstart"), "quickstart", tmp_path, "", "", cluster=asked)
    image = stub_image()
    with session._executor(task, [], image, (0, 1, 2), SilentWatcher()) as executor:
        assert executor == "executor"
    assert [words[:3] for words in given] == [(address, 3, image)]


def test_without_a_cluster_a_study_is_carried_out_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "ready_machine", lambda _: "machine")
    task = Task(load_study("quickstart"), "quickstart", tmp_path, "", "")
    with session._executor(task, [], stub_image(), (0, 1), SilentWatcher()) as executor:
        assert isinstance(executor, LocalExecutor)
        assert (executor.machine, executor.cores) == ("machine", (0, 1))
