"""Executing a plan, with a machine whose labs are replaced by what the test needs."""

from __future__ import annotations

import errno
import select
from pathlib import Path

import pytest

from headway.campaign import local
from headway.errors import HeadwayError
from headway.guest.orders import Outcome
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.machine import Machine
from headway.lab.network import build_network
from headway.lab.run import Result
from headway.programs.base import Measurement
from headway.results.schema import Record
from headway.results.store import Store
from headway.study.load import load_study
from headway.study.plan import Run, plan

RUNS = plan(load_study("quickstart"))[:20]


def result_of(run: Run) -> Result:
    setting = run.setting
    network = build_network(
        setting.path, setting.client, setting.server, run.seed, setting.limits.virtual
    )
    measured = Measurement(total_s=1.0, ttfb_s=0.5, bytes=int(setting.workload.size))
    return Result(Outcome("ok", None, 10**9, "7"), measured, network, 0.1)


def execute(store: Store, on_record: object = None) -> list[Record]:
    seen: list[Record] = []
    local.execute(
        RUNS,
        Machine(None, Path(), Path()),  # type: ignore[arg-type]
        store,
        cores=[0, 1],
        on_record=on_record or seen.append,  # type: ignore[arg-type]
    )
    return seen


def test_all_runs_are_carried_out_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "carry_out", lambda run, *_, **__: result_of(run))
    store = Store.create(tmp_path / "out")
    assert len(execute(store)) == len(RUNS)
    assert {record.run_id for record in store.records()} == {run.run_id for run in RUNS}


def test_when_space_runs_out_finished_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def carry(run: Run, *_: object, **__: object) -> Result:
        if len(done) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device", "orders.json")
        done.append(run)
        return result_of(run)

    monkeypatch.setattr(local, "carry_out", carry)
    store = Store.create(tmp_path / "out")
    with pytest.raises(HeadwayError, match="no space left"):
        execute(store)
    assert len(store.records()) >= 5


def test_an_interrupt_ends_running_labs_and_keeps_finished_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = []

    def carry(
        run: Run, _machine: Machine, _directory: Path, *, cancellation: Cancellation, **__: object
    ) -> Result:
        if run is RUNS[0]:
            return result_of(run)
        # A lab that would run for ever: only the cancellation ends it.
        select.select([cancellation], [], [])
        ended.append(run)
        raise Cancelled

    def interrupt(_: Record) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "carry_out", carry)
    store = Store.create(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        execute(store, interrupt)
    assert [record.run_id for record in store.records()] == [RUNS[0].run_id]
    assert ended
