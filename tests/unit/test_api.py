"""Headway from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import headway
from headway.columns import Record, polars_schema, schema_of
from headway.columns.record import FlowRecord
from headway.records.store import FLOWS_FILE, RUNS_FILE
from tests.stub_lab import replace_labs

TABLES = {
    "name": "notebook",
    "question": "Which is faster?",
    "repetitions": 2,
    "axes": {"protocol": ["h2", "h3"], "workload.size": ["10 kB", "20 kB"]},
}


def test_a_study_is_loaded_by_name_from_a_file_or_from_tables(tmp_path: Path) -> None:
    assert headway.load("quickstart").name == "quickstart"
    file = tmp_path / "study.toml"
    file.write_text('name = "notebook"\n[axes]\nprotocol = ["h2", "h3"]\n')
    assert headway.load(file).name == headway.load(str(file)).name == "notebook"
    study = headway.load(TABLES)
    assert headway.load(study) is study
    assert TABLES["axes"] == {"protocol": ["h2", "h3"], "workload.size": ["10 kB", "20 kB"]}


def test_a_plan_is_a_frame_of_runs() -> None:
    runs = headway.plan(TABLES)
    assert len(runs) == 8
    assert set(runs["contender"]) == {"h2", "h3"}
    assert set(runs["size_bytes"]) == {10_000, 20_000}
    assert {"run_id", "cell", "contender", "seed", "protocol"} <= set(runs.columns)
    assert not {"server", "rtt_ms", "study"} & set(runs.columns)
    whole = headway.plan(TABLES, every_condition=True)
    assert len(whole.columns) > 30
    assert whole.select(runs.columns).equals(runs)
    assert {name: runs.schema[name] for name in runs.columns} == {
        name: kind
        for name, kind in pl.DataFrame(schema=polars_schema()).schema.items()
        if name in runs.columns
    }


def test_flows_that_compete_are_a_frame_which_may_be_empty(tmp_path: Path) -> None:
    kinds = schema_of(FlowRecord)
    assert headway.read(tmp_path).flows.schema == kinds
    run = {"experiment": "", "run_id": "r"}
    flows = pl.DataFrame([{**run, "flow": "a"}, {**run, "flow": "b"}], schema=kinds)
    flows.write_parquet(tmp_path / FLOWS_FILE)
    pl.DataFrame([run], schema=polars_schema()).write_parquet(tmp_path / RUNS_FILE)
    assert headway.read(tmp_path).flows.equals(flows)


def test_a_study_is_run_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace_labs(monkeypatch, done.append)
    frame = headway.run(TABLES, tmp_path / "out", jobs=1, progress=False)
    assert frame.columns == list(Record.model_fields)
    assert len(frame) == len(done) == 8
    grown = {**TABLES, "repetitions": 3}
    assert len(headway.run(grown, tmp_path / "out", progress=False)) == len(done) == 12
    with pytest.raises(headway.WrongInputError, match="holds files already"):
        headway.run(TABLES, tmp_path / "out", resume=False, progress=False)
    assert len(headway.run(TABLES, tmp_path / "out", replace=True, progress=False)) == 8


def test_results_are_read_as_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_labs(monkeypatch)
    headway.run(TABLES, tmp_path / "out")
    assert "running labs: 8 of 8" in capsys.readouterr().err
    results = headway.read(tmp_path / "out")
    assert len(results.runs) == 8
    assert len(results.comparisons) == 2
    with pytest.raises(headway.WrongInputError, match="no runs"):
        _ = headway.read(tmp_path).runs


def test_the_api_is_loaded_only_when_it_is_used() -> None:
    code = (
        "import sys, headway; assert 'headway.api' not in sys.modules; headway.load('quickstart')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = headway.nonsense  # type: ignore[attr-defined]
