"""A study is given up when a contender fails everywhere and alike, and only then."""

from __future__ import annotations

import queue
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from headway.campaign import local
from headway.campaign.executor import Keep
from headway.campaign.failfast import ENOUGH, FailFast, HopelessError
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.columns import Record, Status
from headway.contract.outcome import Outcome
from headway.errors import normalised
from headway.lab.cancel import Cancellation
from headway.lab.run import Result
from headway.planning.boots import Boot, boots
from headway.planning.runs import Run, plan
from headway.programs.measurement import Measurement
from headway.records.record import make_record
from headway.records.store import Start, read_records
from headway.study.load import study_from
from tests.stub_lab import replace_labs

RTTS = [f"{number} ms" for number in range(10, 90, 10)]
GRID = {"name": "s", "axes": {"protocol": ["h1", "h2"], "path.rtt": RTTS}, "repetitions": 3}
ONE_CELL = {"name": "s", "axes": {"protocol": ["h1", "h2"]}, "repetitions": 20}
Fails = Callable[[str], str | None]


def h2(name: str) -> str | None:
    return f"curl: port {len(name)} of {name}: refused" if "-h2-" in name else None


def one_by_one(
    self: local.LocalExecutor, runs: Sequence[Run], artifacts: Callable[[str], Path], keep: Keep
) -> None:
    """See `Executor.execute`; labs without work would all have ended before the first is judged."""
    worker = local._Worker(
        0, queue.SimpleQueue(), queue.SimpleQueue(), self.machine, artifacts, Cancellation()
    )
    for run in runs:
        if not keep(list(worker._carry_out(Boot.of((run,))))):
            return


class Carried:
    """Studies carried out without labs, in a directory."""

    def __init__(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.out, self.monkeypatch = out, monkeypatch

    def __call__(self, tables: dict[str, Any], fails: Fails, **more: Any) -> list[str]:
        """Carry out a study, or what is left of it; returns the runs that were carried out."""
        done: list[str] = []
        replace_labs(self.monkeypatch, done.append, fails=fails)
        self.monkeypatch.setattr(local.LocalExecutor, "execute", one_by_one)
        self.monkeypatch.setattr("headway.diagnosis.transfer.Transfer.save", lambda *_: None)
        study = study_from(tables)
        conduct(
            Task(study, "s", self.out, "", "go on", Start.RESUME, jobs=1, **more), SilentWatcher()
        )
        return done

    @property
    def failed(self) -> list[str]:
        return [one.run_id for one in read_records(self.out) if one.status is not Status.OK]


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Carried:
    return Carried(tmp_path / "out", monkeypatch)


@pytest.mark.parametrize("tables", [GRID, ONE_CELL], ids=["grid", "one cell"])
def test_a_contender_that_fails_everywhere_alike_stops_the_study(
    carried: Carried, tables: dict[str, Any]
) -> None:
    with pytest.raises(HopelessError) as stopped:
        carried(tables, h2)
    assert len(carried.failed) == ENOUGH
    said = str(stopped.value)
    assert re.match(
        r"stopped, because all 5 runs of h2 failed alike: curl: port \d+ of .*: ref", said
    )
    shown = re.search(r"\(see (.*?)\)", said)
    assert shown
    assert Path(shown[1]).parent == carried.out / "artifacts"
    assert (carried.out / "runs.parquet").exists()


def test_it_goes_on_if_asked_or_once_it_is_mended(carried: Carried) -> None:
    with pytest.raises(HopelessError):
        carried(ONE_CELL, h2)
    before = len(read_records(carried.out))
    with pytest.raises(HopelessError):
        carried(ONE_CELL, h2)
    assert len(read_records(carried.out)) == before
    assert len(carried(ONE_CELL, h2, keep_going=True)) == 40 - before
    assert carried(ONE_CELL, h2) == []
    assert len(carried(ONE_CELL, lambda _: None, retry_failed=True)) == 20
    assert not carried.failed


def test_a_study_in_which_nothing_succeeds_stops_though_each_contender_might(
    carried: Carried,
) -> None:
    with pytest.raises(HopelessError, match="all 5 runs failed alike: no"):
        carried(
            {**GRID, "axes": {"protocol": ["h1", "h2", "h3"], "path.rtt": RTTS}}, lambda _: "no"
        )


def test_a_lab_that_served_several_experiments_failed_once(tmp_path: Path) -> None:
    """Two labs with six rows are no evidence that all fail."""
    axes = {"path.rtt": ["20 ms", "40 ms"], "protocol": ["h1", "h2"]}
    tables = {f"e{number}": {"axes": axes} for number in range(3)}
    runs = plan(study_from({"name": "s", "repetitions": 3, "experiments": tables}))
    failed = Result(Outcome("failed", "refused", 0, ""), (Measurement(),), 0.1, 0.05)

    def records(boot: Boot) -> list[Record]:
        first = boot.runs[0]
        return [
            make_record(one, failed, tmp_path, same_as=None if one is first else first.run_id)
            for one in boot.served
        ]

    labs = [boot for boot in boots(runs) if boot.runs[0].rep == 1]
    assert [len(boot.served) for boot in labs] == [3] * 4
    heard = FailFast(runs)
    heard.hear(records(labs[0]) + records(labs[1]))
    assert heard.verdict(tmp_path) is None


@pytest.mark.parametrize(
    ("tables", "fails", "failed"),
    [
        # One cell is too hard, for one contender or for all.
        (GRID, lambda name: "late" if name.startswith("rtt_30ms-h2") else None, 3),
        (GRID, lambda name: "late" if name.startswith("rtt_30ms") else None, 6),
        # All but one are.
        (GRID, lambda name: "late" if "h2" in name and "rtt_80ms" not in name else None, 21),
        # Different reasons.
        (ONE_CELL, lambda name: f"{'even' if int(name[-1]) % 2 else 'odd'}" if "h2" in name else None, 20),
        # It succeeds now and then.
        (ONE_CELL, lambda name: "late" if "h2" in name and name[-1] != "3" else None, 18),
        # Nothing would be saved.
        ({**ONE_CELL, "repetitions": 5}, h2, 5),
        ({**ONE_CELL, "repetitions": 2}, h2, 2),
    ],
    ids=["one cell", "one cell of all", "all cells but one", "reasons", "at times", "end", "few"],
)  # fmt: skip
def test_other_failures_are_rows(
    carried: Carried, tables: dict[str, Any], fails: Fails, failed: int
) -> None:
    carried(tables, fails)
    assert len(carried.failed) == failed


def test_reasons_are_alike_if_they_differ_in_numbers_and_places_only() -> None:
    one = "nginx: bind() to 10.0.0.2:443 failed, see /a/run-001/nginx.err (key 0123abcd)"
    other = "nginx: bind() to 10.0.0.7:443 failed, see /b/run-777/nginx.err (key deadbeef)"
    assert normalised(one) == normalised(other)
    assert normalised(one) != normalised("nginx: no certificate")
