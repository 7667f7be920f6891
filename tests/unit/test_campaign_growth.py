"""A study that has grown: its old runs stay as they are, and the whole is as if carried out at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.columns import OF_THE_MACHINE
from headway.errors import WrongInputError
from headway.planning.runs import plan
from headway.records.store import JOURNAL_FILE, Start
from headway.sites.site import Exchange, Site
from headway.sites.warc import write_archive
from headway.study.load import study_from
from tests.stub_lab import replace_labs

TABLES: dict[str, Any] = {
    "name": "growing",
    "repetitions": 2,
    "axes": {"path": {"rtt": ["20 ms", "60 ms"]}, "workload": {"size": ["10 kB"]}},
    "contenders": {"h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}},
    "path": {"rate": "10 Mbit/s"},
}
RTTS = ["20 ms", "40 ms", "60 ms"]


def carry_out(
    monkeypatch: pytest.MonkeyPatch, out: Path, tables: dict[str, Any], *, retry: bool = False
) -> list[str]:
    """Carry out a study without labs; returns the runs that were carried out."""
    done: list[str] = []
    replace_labs(monkeypatch, done.append)
    start, study = Start.RESUME, study_from(tables)
    conduct(Task(study, "growing", out, "", "", start, retry_failed=retry), SilentWatcher())
    return done


def table(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "runs.parquet").drop(OF_THE_MACHINE)


def artifacts(out: Path) -> dict[str, bytes]:
    files = (file for file in (out / "artifacts").rglob("*") if file.is_file())
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"axes": {"path": {"rtt": RTTS}, "workload": {"size": ["10 kB"]}}}, 4),
        ({"axes": {**TABLES["axes"], "workload": {"size": ["5 kB", "10 kB"]}}}, 8),
        ({"contenders": {"h1": {"protocol": "h1"}, **TABLES["contenders"]}}, 4),
        ({"repetitions": 5, "question": "And now?"}, 12),
        (
            {
                "repetitions": 3,
                "axes": {"path": {"rtt": RTTS}, "workload": {"size": ["10 kB"]}},
                "contenders": {"h1": {"protocol": "h1"}, **TABLES["contenders"]},
            },
            19,
        ),
        ({"exclude": []}, 0),
    ],
    ids=["level", "level first", "contender", "repetitions", "all", "nothing"],
)
def test_what_was_there_stays_and_the_rest_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], new: int
) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    before = carry_out(monkeypatch, out, TABLES)
    journal, kept = (out / JOURNAL_FILE).read_bytes(), artifacts(out)

    added = carry_out(monkeypatch, out, TABLES | changes)

    assert len(added) == new
    assert not set(added) & set(before)
    assert (out / JOURNAL_FILE).read_bytes().startswith(journal)
    assert kept.items() <= artifacts(out).items()
    carry_out(monkeypatch, fresh, TABLES | changes)
    assert table(out).equals(table(fresh))
    assert manifest(out) == manifest(fresh)


def manifest(out: Path) -> dict[str, Any]:
    """Without what tells when and how, and with the self-test in one order."""
    found: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    del found["created"], found["self_test"]
    found["self_tested_paths"] = sorted(found["self_tested_paths"])
    return found


def test_new_paths_are_tested_and_old_ones_are_not_tested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    out = tmp_path / "out"
    for rtts in (["20 ms"], ["20 ms"], RTTS):
        tables = TABLES | {"axes": {"path": {"rtt": rtts}, "workload": {"size": ["10 kB"]}}}
        replace_labs(monkeypatch, paths=lambda paths: asked.append([str(p.rtt) for p in paths]))
        task = Task(study_from(tables), "growing", out, "", "", Start.RESUME)
        conduct(task, SilentWatcher())
    assert asked == [["20 ms"], ["40 ms", "60 ms"]]
    assert len(json.loads((out / "manifest.json").read_text())["self_test"]) == 3


def test_every_path_that_a_repetition_draws_is_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    study = study_from({**TABLES, "axes": {}, "path": {"profile": "4g-good"}, "repetitions": 3})
    replace_labs(monkeypatch, paths=lambda paths: asked.append([str(p.rtt) for p in paths]))
    conduct(Task(study, "drawn", tmp_path / "out", "", "", Start.NEW), SilentWatcher())
    drawn = {str(path.rtt) for run in plan(study) for path in run.setting.network.paths}
    assert len(drawn) == 3
    assert [sorted(rtts) for rtts in asked] == [sorted(drawn)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"repetitions": 1}, "repetitions, 2 there, 1 now"),
        (
            {"axes": {"path": {"rtt": ["20 ms"]}, "workload": {"size": ["10 kB"]}}},
            "axes.path.rtt, 20 ms, 60 ms there, 20 ms now",
        ),
        ({"contenders": {"h2": {"protocol": "h2"}}}, "contenders.h3, {'protocol': 'h3'} there"),
        ({"exclude": [{"path.rtt": "60 ms"}]}, "exclude, none there, {'path.rtt': '60 ms'} now"),
    ],
)
def test_a_study_that_shrank_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], said: str
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, out, TABLES)
    kept = (out / JOURNAL_FILE).read_bytes()
    with pytest.raises(WrongInputError, match=r"no part of the study .* may grow, but not") as why:
        carry_out(monkeypatch, out, TABLES | changes)
    assert said in str(why.value)
    assert (out / JOURNAL_FILE).read_bytes() == kept


def test_growing_and_changing_at_once_names_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, out, TABLES)
    changed = TABLES | {"repetitions": 4, "path": {"rate": "20 Mbit/s"}}
    with pytest.raises(WrongInputError, match=r"setting, path\.rate: 10 Mbit/s there, 20 Mbit/s"):
        carry_out(monkeypatch, out, changed)


def test_only_what_stays_has_to_be_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    before = carry_out(monkeypatch, out, TABLES)
    journal = out / JOURNAL_FILE
    failed = journal.read_text().replace(
        '"status":"ok","error":null', '"status":"failed","error":"x"'
    )
    journal.write_text(failed)
    changed = TABLES | {"path": {"rate": "20 Mbit/s"}}
    with pytest.raises(WrongInputError, match="another setting"):
        carry_out(monkeypatch, out, changed)
    assert sorted(carry_out(monkeypatch, out, changed, retry=True)) == sorted(before)


def test_another_recording_under_the_same_name_is_another_setting(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from headway.planning.runs import plan
    from headway.records.runkey import run_key

    def recorded(text: bytes, day: int, name: str = "a") -> str:
        url = "https://a.test/"
        exchange = Exchange("GET", url, 200, (("content-type", "text/html"),), text)
        site = Site("a", url, (exchange,))
        archive = tmp_path / f"{name}.warc.gz"
        write_archive(site, archive, recorded=datetime(2026, 1, day, tzinfo=UTC))
        workload = {"kind": "page", "site": str(archive)}
        client = {"program": "chromium"}
        study = study_from({"name": "s", "workload": workload, "client": client})
        return run_key(plan(study)[0])

    first = recorded(b"<p>", 1)
    assert recorded(b"<p>", 2) == first
    assert recorded(b"<p>", 1, "b") == first
    assert recorded(b"<b>", 3) != first
