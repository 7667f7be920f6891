"""Executing a plan here, with labs replaced by what the test needs."""

from __future__ import annotations

import dataclasses
import errno
import queue
import select
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.campaign.local import LocalExecutor
from headway.columns import Record
from headway.contract.outcome import Outcome
from headway.errors import HeadwayError
from headway.lab import batch, cores
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.machine import Machine
from headway.lab.run import Result
from headway.planning.runs import Run, plan
from headway.programs.measurement import Measurement
from headway.study.load import load_study
from tests.stub_lab import keeping

RUNS = plan(load_study("quickstart"))[:20]


def result_of(run: Run, directory: Path) -> Result:
    directory.mkdir(parents=True)
    measured = Measurement(total_s=1.0, ttfb_s=0.5, bytes=int(run.setting.workload.size))
    return Result(Outcome("ok", None, 10**9, "7"), (measured,), 0.1, 0.05)


def execute(directory: Path, kept: list[Record], cores: Sequence[int] = (0, 1)) -> None:
    machine = Machine(None, Path())  # type: ignore[arg-type]
    LocalExecutor(machine, list(cores)).execute(RUNS, lambda name: directory / name, keeping(kept))


def names(kept: Sequence[Record]) -> list[str]:
    return sorted(record.run_id for record in kept)


def test_all_runs_are_carried_out_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "carry_out", lambda run, _, where, **__: result_of(run, where))
    kept: list[Record] = []
    execute(tmp_path, kept)
    assert names(kept) == sorted(run.run_id for run in RUNS)


AGAIN = dataclasses.replace(RUNS[0], run_id="again-001", experiment="again", cell="again")
"""The first run's setting and seed, in another experiment."""


def carry_out_both(directory: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Record, Record]:
    """Carry out two runs that are the same by one lab."""
    carried: list[str] = []

    def carry(run: Run, _: Machine, where: Path, **__: object) -> Result:
        carried.append(run.run_id)
        result = result_of(run, where)
        (where / "deep").mkdir()
        (where / "deep" / "file").write_text(run.run_id)
        (where / "deeper").symlink_to("deep")
        return result

    monkeypatch.setattr(batch, "carry_out", carry)
    kept: list[Record] = []
    machine = Machine(None, Path())  # type: ignore[arg-type]
    labs = LocalExecutor(machine, [0])
    labs.execute([RUNS[0], AGAIN], lambda name: directory / name, keeping(kept))
    assert carried == [RUNS[0].run_id]
    done, other = kept
    return done, other


def test_a_run_that_is_done_keeps_no_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand of them would take several hundred megabytes."""
    monkeypatch.setattr(batch, "carry_out", lambda run, _, where, **__: result_of(run, where))
    assert all(run.deployment for run in RUNS)
    execute(tmp_path, [])
    assert not [run.run_id for run in RUNS if "deployment" in vars(run)]


def test_runs_that_another_one_stands_for_have_its_files_and_rows_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, other = carry_out_both(tmp_path, monkeypatch)
    assert (done.run_id, done.same_as, done.wall_s) == (RUNS[0].run_id, None, 0.1)
    assert (other.run_id, other.same_as, other.wall_s) == ("again-001", done.run_id, 0.0)
    assert (other.experiment, other.cell) == ("again", "again")
    assert (other.total_s, other.seed, other.setting_key) == (1.0, done.seed, done.setting_key)
    own, first = (tmp_path / one.run_id / "deep" / "file" for one in (other, done))
    assert own.read_text() == done.run_id
    assert own.samefile(first)
    assert (tmp_path / "again-001" / "deeper").readlink() == Path("deep")


def test_without_links_they_have_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", link)
    done, other = carry_out_both(tmp_path, monkeypatch)
    own, first = (tmp_path / one.run_id / "deep" / "file" for one in (other, done))
    assert own.read_text() == done.run_id
    assert not own.samefile(first)
    assert (tmp_path / "again-001" / "deeper").readlink() == Path("deep")


def test_a_link_for_which_there_is_no_space_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "deep/file")

    monkeypatch.setattr("os.link", link)
    with pytest.raises(HeadwayError, match=r"no space left for results \(deep/file\)"):
        carry_out_both(tmp_path, monkeypatch)


def test_what_an_unfinished_run_left_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "carry_out", lambda run, _, where, **__: result_of(run, where))
    stale = tmp_path / RUNS[0].run_id / "outcome.json"
    stale.parent.mkdir()
    stale.write_text("stale")
    execute(tmp_path, [])
    assert not stale.exists()


def test_when_space_runs_out_finished_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def carry(run: Run, _: Machine, where: Path, **__: object) -> Result:
        if len(done) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device", "orders.json")
        done.append(run.run_id)
        return result_of(run, where)

    monkeypatch.setattr(batch, "carry_out", carry)
    kept: list[Record] = []
    with pytest.raises(HeadwayError, match=r"no space left for results \(orders\.json\)"):
        execute(tmp_path, kept, [0])  # a second worker's run may end just too late to be kept
    assert names(kept) == sorted(done)


def test_when_it_is_enough_running_labs_end_and_finished_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Run] = []

    def carry(
        run: Run, _: Machine, where: Path, *, cancellation: Cancellation, **__: object
    ) -> Result:
        if run in RUNS[:3]:
            return result_of(run, where)
        select.select([cancellation], [], [])
        ended.append(run)
        raise Cancelled

    kept: list[Record] = []

    def enough(records: Sequence[Record]) -> bool:
        kept.extend(records)
        return len(kept) < 3

    monkeypatch.setattr(batch, "carry_out", carry)
    machine = Machine(None, Path())  # type: ignore[arg-type]
    LocalExecutor(machine, [0, 1]).execute(RUNS, lambda name: tmp_path / name, enough)
    assert names(kept) == sorted(run.run_id for run in RUNS[:3])
    assert len(ended) <= 2


def test_an_interrupt_ends_running_labs_and_keeps_finished_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Run] = []

    def carry(
        run: Run, _: Machine, where: Path, *, cancellation: Cancellation, **__: object
    ) -> Result:
        if run is RUNS[0]:
            return result_of(run, where)
        # A lab that would run for ever: only the cancellation ends it.
        select.select([cancellation], [], [])
        ended.append(run)
        raise Cancelled

    kept: list[Record] = []

    def interrupted(records: Sequence[Record]) -> None:
        kept.extend(records)
        if len(kept) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(batch, "carry_out", carry)
    machine = Machine(None, Path())  # type: ignore[arg-type]
    executor = LocalExecutor(machine, [0, 1])
    with pytest.raises(KeyboardInterrupt):
        executor.execute(RUNS, lambda name: tmp_path / name, interrupted)
    assert set(names(kept)) == {RUNS[0].run_id}
    assert ended


@pytest.fixture
def two_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with cores 4 and 7, whose leases nobody else takes."""
    for core in (4, 7):
        (tmp_path / f"cpu{core}").touch()
    monkeypatch.setattr(cores, "_CPUS", tmp_path)
    monkeypatch.setattr(cores, "available_cores", lambda: [4, 7])


@pytest.mark.usefixtures("two_cores")
def test_a_core_is_leased_to_one_lab_at_a_time() -> None:
    leased: queue.SimpleQueue[int] = queue.SimpleQueue()

    def third() -> None:
        with cores.leased_core() as core:
            leased.put(core)

    waiting = threading.Thread(target=third)
    with cores.leased_core() as first:
        with cores.leased_core() as second:
            assert {first, second} == {4, 7}
            waiting.start()
            assert leased.empty()
        assert leased.get() == second
    waiting.join()


@pytest.mark.usefixtures("two_cores")
def test_a_core_that_is_never_free_is_shared_in_the_end() -> None:
    with cores.free_core(4), cores.free_core(7), cores.leased_core(patience_s=0) as core:
        assert core in (4, 7)


@pytest.mark.usefixtures("two_cores")
def test_a_lab_takes_another_core_than_somebody_elses_lab() -> None:
    with cores.free_core(4) as first, cores.free_core(4) as second:
        assert (first, second) == (4, 7)
        # Of none that is free, the preferred one is shared; nobody waits.
        with cores.free_core(7) as third:
            assert third == 7
    with cores.free_core(7) as core:
        assert core == 7
