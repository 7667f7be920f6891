"""A study that was killed, and goes on: the same data set, and nothing done twice."""

from __future__ import annotations

import dataclasses
import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from headway.analysis.result_loading import load_results
from headway.campaign.resume_check import GoingOn
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.columns import OF_THE_MACHINE
from headway.errors import WrongInputError
from headway.image import Image
from headway.records import store
from headway.records.store import Start, read_records
from headway.report.provenance import provenance_facts
from headway.study.experiment import Study
from headway.study.load import study_from
from tests.stub_lab import Loaded, replace_labs, stub_image

TABLES = {
    "name": "resumed",
    "question": "Is it the same?",
    "repetitions": 3,
    "axes": {"protocol": ["h1", "h2", "h3"], "workload": {"size": ["10 kB", "20 kB"]}},
    "path": {"rate": "10 Mbit/s", "rtt": "20 ms"},
}
STUDY = """
name = "resumed"
question = "Is it the same?"
repetitions = 3
[axes]
protocol = ["h1", "h2", "h3"]
workload.size = ["10 kB", "20 kB"]
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
"""
RUNS = 18


def task(out: Path, study: Study | None = None, start: Start = Start.RESUME) -> Task:
    return Task(study or study_from(TABLES), "resumed", out, "the command", "it goes on", start)


def carry_out(
    monkeypatch: pytest.MonkeyPatch, wanted: Task, *, image: Image | None = None
) -> list[str]:
    """Carry out a study without labs; returns the runs that were carried out."""
    done: list[str] = []
    replace_labs(monkeypatch, done.append, image)
    conduct(wanted, SilentWatcher())
    return done


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    with Loaded() as started:
        yield started


def table(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "runs.parquet").drop(OF_THE_MACHINE)


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("self-test", 1),
        ("manifest.json", 1),
        ("manifest.json", 2),
        ("run", 1),
        ("run", 8),
        ("half a record", 1),
        ("half a record", 3),
        ("record", 1),
        ("record", 5),
        ("run", RUNS),
        ("runs.parquet", 1),
    ],
)
def test_a_killed_study_ends_with_the_same_data_set(
    loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, number: int
) -> None:
    file, out, log = tmp_path / "study.toml", tmp_path / "out", tmp_path / "log"
    file.write_text(STUDY)
    words = (moment, str(number), "SIGKILL", str(log), "run", str(file), "--out", str(out))
    assert loaded.run(*words, said=tmp_path / "said") == -signal.SIGKILL
    kept = Counter(record.run_id for record in read_records(out))
    before = Counter(log.read_text().split() if log.exists() else ())

    after = Counter(carry_out(monkeypatch, task(out)))

    assert not kept & after
    assert len(kept) + len(after) == RUNS
    assert max((before + after).values()) <= 2
    carry_out(monkeypatch, task(tmp_path / "uninterrupted"))
    assert table(out).equals(table(tmp_path / "uninterrupted"))
    manifests = [
        json.loads((directory / "manifest.json").read_text())
        for directory in (out, tmp_path / "uninterrupted")
    ]
    for manifest in manifests:
        del manifest["created"], manifest["command"]
    assert manifests[0] == manifests[1]
    assert load_results(out).part == ""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_study_that_is_asked_to_end_says_how_it_goes_on(
    loaded: Loaded, tmp_path: Path, name: str, status: int
) -> None:
    file, out, said = tmp_path / "study.toml", tmp_path / "out", tmp_path / "said"
    file.write_text(STUDY)
    words = ("record", "3", name, str(tmp_path / "log"), "run", str(file), "--out", str(out))
    assert loaded.run(*words, said=said) == status
    done = len(read_records(out))
    assert done >= 3
    assert len(table(out)) == done
    assert load_results(out).part == f"This is a part of the study: {done} of {RUNS} runs so far."
    lines = said.read_text().splitlines()
    assert "headway: interrupted" in lines
    goes_on = f"`headway run {file} --out {out} --resume` goes on"
    assert lines[-1] == f"{done} of {RUNS} runs are kept in {out}; {goes_on}"
    assert "Traceback" not in said.read_text()


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_report_that_is_asked_to_end_says_so(
    loaded: Loaded, tmp_path: Path, name: str, status: int
) -> None:
    file, out, said = tmp_path / "study.toml", tmp_path / "out", tmp_path / "said"
    file.write_text(STUDY)
    words = ("report", "1", name, str(tmp_path / "log"), "run", str(file), "--out", str(out))
    assert loaded.run(*words, said=said) == status
    assert said.read_text().splitlines()[-1] == "headway: interrupted"
    assert len(table(out)) == RUNS


def test_the_command_of_the_first_run_stays_until_the_study_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, task(out))
    again = Task(study_from(TABLES), "resumed", out, "another command", "", Start.RESUME)
    assert carry_out(monkeypatch, again) == []
    assert json.loads((out / "manifest.json").read_text())["command"] == "the command"
    grown = {**TABLES, "repetitions": 4}
    assert carry_out(monkeypatch, dataclasses.replace(again, study=study_from(grown)))
    assert json.loads((out / "manifest.json").read_text())["command"] == "another command"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "other"}, "another study: resumed there, other now"),
        ({"seed": 7}, "another setting, seed: 1 there, 7 now"),
        (
            {"path": {"rate": "20 Mbit/s", "rtt": "20 ms"}},
            "another setting, path.rate: 10 Mbit/s there, 20 Mbit/s now",
        ),
        (
            {"server": {"congestion_control": {"tcp": "reno"}}},
            "another setting, server: none there",
        ),
    ],
)
def test_another_study_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, task(out))
    with pytest.raises(WrongInputError) as refused:
        carry_out(monkeypatch, task(out, study_from({**TABLES, **changes})))
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{out}: ")
    assert "\n" not in str(refused.value)


CLAIM = {
    "says": "h3 wins",
    "place": "section 1",
    "rule": {"kind": "order", "contenders": ["h3", "h2"]},
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claims": [CLAIM | {"why": "nobody knows"}]}, None),
        ({"question": "Another?"}, None),
        ({"path": {"rate": "20 Mbit/s", "rtt": "20 ms"}}, "path.rate: 10 Mbit/s there"),
    ],
)
def test_what_no_run_depends_on_keeps_no_results_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str | None
) -> None:
    tables = {**TABLES, "claims": [CLAIM]}
    manifests = []
    for name, own in (("before", {}), ("now", changes)):
        carry_out(monkeypatch, task(tmp_path / name, study_from({**tables, **own})))
        manifests.append(load_results(tmp_path / name).manifest)
    before, now = manifests
    refused = pytest.raises(WrongInputError, match=said) if said else nullcontext()
    with refused:
        GoingOn(before, now, "before").check_comparable()


def test_what_goes_on_may_have_another_agent_but_is_compared_only_with_the_same_image_and_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Own programs that no run names, such as the agent, decide what a lab does, too."""
    out, before = tmp_path / "out", dataclasses.replace(stub_image(), base="base")
    carry_out(monkeypatch, task(out), image=before)
    another = dataclasses.replace(before, key="another-key")
    assert carry_out(monkeypatch, task(out), image=another) == []

    def compared(image: Image) -> list[str]:
        wanted = task(tmp_path / "other", start=Start.REPLACE)
        return carry_out(monkeypatch, dataclasses.replace(wanted, compared_with=out), image=image)

    assert len(compared(another)) == RUNS
    message = "out: is of another lab image: another-key there, image-key now"
    with pytest.raises(WrongInputError, match=message):
        compared(before)
    monkeypatch.setattr("headway.records.provenance.source_key", lambda: "0.1.0-other")
    with pytest.raises(WrongInputError, match=r"another source of Headway: .*, 0\.1\.0-other now"):
        compared(another)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, (True,)),
        ({"rewrite_calls": False}, (False,)),
        ({"contenders": {"a": {}, "b": {"rewrite_calls": False}}}, (False, True)),
    ],
)
def test_whether_calls_were_replaced_is_in_the_manifest(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    allowed: tuple[bool, ...],
) -> None:
    tables = {**TABLES, "axes": {"protocol": ["h1"]}, **changes}
    tables["workload"] = {"size": "10 kB"}
    carry_out(monkeypatch, task(tmp_path / "out", study_from(tables)))
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["rewrite_calls"] == list(
        allowed
    )
    facts = {fact.name: fact.value for fact in provenance_facts(load_results(tmp_path / "out"))}
    words = {(True,): "replaced", (False,): "left alone", (False, True): "not of some contenders"}
    assert words[allowed] in facts["repeated calls"]


@pytest.mark.parametrize("quick", [True, False])
def test_notes_on_few_repetitions_are_of_the_short_form_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    tables = {**TABLES, "quick": {"repetitions": 2}}
    carry_out(monkeypatch, task(tmp_path / "out", study_from(tables, quick=quick)))
    manifest = load_results(tmp_path / "out").manifest
    assert len(manifest.notes) == 1 and "repetitions" in manifest.notes[0]
    assert manifest.of_short_form == (manifest.notes if quick else ())
    assert manifest.alarms == (() if quick else manifest.notes)


def test_the_order_of_axes_belongs_to_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, rtt = {"workload.size": ["10 kB", "20 kB"]}, {"path.rtt": ["20 ms", "40 ms"]}
    out = tmp_path / "out"
    carry_out(monkeypatch, task(out, study_from({**TABLES, "axes": {**size, **rtt}})))
    with pytest.raises(WrongInputError, match=r"no part of the study .* set of cells"):
        carry_out(monkeypatch, task(out, study_from({**TABLES, "axes": {**rtt, **size}})))


def test_another_image_or_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, task(out))
    with pytest.raises(WrongInputError, match=r"version of nginx\): 1\.30\.6 there, 1\.31\.0 now"):
        carry_out(monkeypatch, task(out), image=stub_image(nginx="1.31.0"))
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"headway": "0.0.1"}))
    with pytest.raises(WrongInputError, match=r"another version of Headway: 0\.0\.1 there"):
        carry_out(monkeypatch, task(out))


def test_failed_runs_are_rows_and_run_again_only_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    carry_out(monkeypatch, task(out))
    journal = out / store.JOURNAL_FILE
    lines = journal.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace('"status":"ok","error":null', '"status":"timeout","error":"late"')
    journal.write_text("".join(lines))
    late = json.loads(lines[3])["run_id"]
    assert carry_out(monkeypatch, task(out)) == []
    assert table(out).filter(pl.col("status") == "timeout")["run_id"].to_list() == [late]
    retried = Task(study_from(TABLES), "resumed", out, "", "", Start.RESUME, retry_failed=True)
    assert carry_out(monkeypatch, retried) == [late]
    assert set(table(out)["status"]) == {"ok"}


def test_a_study_that_writes_its_report_is_not_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Until its report is there, nobody else may use its directory."""
    refused: list[str] = []

    def report(directory: Path) -> None:
        before = table(directory)
        with pytest.raises(WrongInputError, match="another study is being carried out") as error:
            conduct(task(directory, start=Start.REPLACE), SilentWatcher())
        assert table(directory).equals(before)
        refused.append(str(error.value))

    replace_labs(monkeypatch, lambda _: None, None)
    conduct(task(tmp_path / "out"), SilentWatcher(), report)
    assert len(refused) == 1
