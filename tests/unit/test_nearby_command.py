"""The command: what it takes, what it prints, and one clear line with status 2 about what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headway
from headway.errors import WrongInputError
from headway.foreign.documents import toml_tables
from headway.nearby import trial
from headway.nearby.axis import known_axes
from headway.nearby.document import FILE, read_nearby
from headway.records.store import NEARBY
from headway.report import write_report
from headway.study.axisnames import AxisName
from tests.stub_lab import replace_labs
from tests.unit import made_results as made
from tests.unit.test_cli import run
from tests.unit.test_nearby_search import about, carried_out, h3_sooner

DOCS = Path(__file__).parents[2] / "docs" / "nearby.md"


@pytest.fixture(autouse=True)
def labs(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_labs(monkeypatch, takes=h3_sooner)
    monkeypatch.setattr(trial.Present, "lacks", lambda *_: "")
    kept = tuple(axis for axis in known_axes() if axis.name in ("queue", "RTT"))
    monkeypatch.setattr(trial, "known_axes", lambda: kept)


def test_study_files_know_every_axis() -> None:
    assert {axis.name for axis in headway.nearby.axis.known_axes()} == set(AxisName)


def test_the_page_has_every_axis_as_it_is() -> None:
    page = DOCS.read_text()
    together = "other programs that can"
    for axis in known_axes():
        text = together if axis.name in ("server", "client") else axis.varies
        assert f"| {axis.name} | {text} |" in page or (text == together and text in page), axis.name
    order = [page.find(f"| {axis.name} |") for axis in known_axes()]
    shown = [place for place in order if place >= 0]
    assert shown == sorted(shown) and len(shown) >= len(order) - 2


def test_it_prints_what_loses_most_and_keeps_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = carried_out(tmp_path / "results")
    assert run(monkeypatch, "nearby", str(results), "--runs", "400", "--jobs", "1") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "0 of 1 sentence changes at none of its neighbours" in shown
    assert "turns around with a queue of 0.25 BDP" in shown
    assert "How far it holds" in (results / "report" / "index.html").read_text()


def test_a_study_is_carried_out_first_and_only_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = tmp_path / "own.toml", tmp_path / "out"
    study.write_text(
        'name = "own"\nrepetitions = 10\npath = { rate = "10 Mbit/s", rtt = "60 ms", queue = "2 BDP" }\n'
        'workload.size = "1 MB"\naxes.protocol = ["h2", "h3"]\n'
    )
    words = ("nearby", str(study), "--out", str(out), "--runs", "100", "--jobs", "1")
    assert run(monkeypatch, *words) == 0
    assert (out / NEARBY / FILE).exists()
    capsys.readouterr()
    assert run(monkeypatch, *words) == 0
    assert "has the study's results" in capsys.readouterr().err


OWN = (
    'name = "own"\nrepetitions = 10\npath = { rate = "10 Mbit/s", rtt = "60 ms", queue = "2 BDP" }\n'
    'workload.size = "1 MB"\naxes.protocol = ["h2", "h3"]\n'
)


def test_run_tries_neighbours_if_asked_even_if_the_study_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = tmp_path / "own.toml", tmp_path / "out"
    study.write_text(OWN + '[budget]\ntotal_s = { most = "1 ms" }\n')
    words = ("run", str(study), "--out", str(out), "--jobs", "1")
    assert run(monkeypatch, *words, "--nearby", "--strict") == 1
    assert "neighbour" in capsys.readouterr().out
    paragraph = (out / NEARBY / "depends-on.md").read_text()
    assert paragraph.startswith("**Depends on.**") and "h3 against h2" in paragraph


def test_the_key_of_a_study_is_the_second_half_of_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = tmp_path / "own.toml", tmp_path / "out"
    study.write_text(OWN + '[nearby]\nruns = 90\naxes = ["RTT"]\n[quick]\nnearby = false\n')
    assert run(monkeypatch, "plan", str(study)) == 0
    assert "Then its neighbours: on RTT, for 90 runs at most." in capsys.readouterr().out
    words = ("run", str(study), "--out", str(out), "--jobs", "1")
    assert run(monkeypatch, *words, "--quick") == 0
    assert not (out / NEARBY).exists()
    assert run(monkeypatch, *words, "--replace") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "on the axis RTT alone" in shown and "of 90 runs" in shown
    answer = read_nearby(out)
    assert answer and {near.axis for near in answer.sentences[0].neighbours} == {"seeds", "RTT"}
    page = (out / "report" / "index.html").read_text()
    assert "on the axis RTT alone" in page and "not tried yet" not in page
    # What is said on the command line goes before what the study says.
    words = ("nearby", str(out), "--axes", "queue", "--replace", "--jobs", "1")
    assert run(monkeypatch, *words) == 0
    answer = read_nearby(out)
    assert answer and answer.axes == ("queue",) and answer.budget == "90 runs"


def test_the_key_holds_from_python_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = toml_tables(OWN) | {"nearby": {"runs": 90, "without": ["queue"]}}
    headway.run(study, tmp_path / "out", progress=False, jobs=1)
    answer = read_nearby(tmp_path / "out")
    assert answer and answer.without == ("queue",) and answer.budget == "90 runs"
    with pytest.raises(WrongInputError, match="is no axis; did you mean 'queue'"):
        headway.try_nearby(tmp_path / "out", axes=["quee"])


def test_a_report_says_that_the_study_asks_for_what_was_not_tried(tmp_path: Path) -> None:
    manifest = made.MANIFEST | {"study": made.MANIFEST["study"] | {"nearby": {}}}
    page = write_report(made.saved(tmp_path / "asked", made.grid(), manifest)).read_text()
    assert "asks how far its answer holds, which was not tried yet" in page
    page = write_report(made.saved(tmp_path / "not", made.grid())).read_text()
    assert "not tried yet" not in page


@pytest.mark.parametrize("protocols", ['["h3"]', '["h2", "h3"]\nfaults.packets = "1-3"'])
def test_a_study_that_compares_nothing_has_no_neighbours_to_ask_for(
    protocols: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = tmp_path / "own.toml"
    study.write_text(f'nearby = true\nname = "own"\naxes.protocol = {protocols}\n')
    assert run(monkeypatch, "validate", str(study)) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "own.toml:1: nearby: tries what is said of two contenders" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--axes", "RTTs"), "--axes: 'RTTs' is no axis; did you mean 'RTT'"),
        (("--axes", "RTT", "--without", "loss"), "--without: leaves axes out of all of them"),
        (("--minutes", "0"), "must be a number above 0"),
        (("--minutes", "nan"), "must be a number above 0"),
        (("--runs", "3"), "3 runs is too little for a single neighbour, which takes 8 runs"),
        (("--minutes", "0.0001"), "is too little for a single neighbour"),
        (("--set", "seed=3"), "leave out --out, --quick, --only, --set and --programs"),
    ],
)
def test_what_cannot_be_asked_is_said_with_status_2(
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = carried_out(tmp_path / "results")
    assert run(monkeypatch, "nearby", str(results), *words) == 2
    error = capsys.readouterr().err
    assert message in " ".join(error.split()) and "Traceback" not in error


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> str:
    assert run(monkeypatch, "nearby", str(results)) == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("rows", "told", "message"),
    [
        (made.runs({"h2": [1.0] * 8}), {}, "has one contender, h2, and compares nothing"),
        (
            made.grid(),
            {"faults": {"packets": "1-3"}},
            "has a fault for each packet",
        ),
        (
            made.runs({"h2": [None] * 8, "h3": [None] * 8}),
            {},
            "compares nothing of which enough runs ended well",
        ),
    ],
)
def test_what_compares_nothing_is_said(
    rows: list[dict[str, Any]],
    told: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    manifest = made.experiments({"name": "", "metrics": ["total_s"], **told})
    results = made.saved(tmp_path / "results", rows, manifest)
    assert message in refused(monkeypatch, capsys, results)


def test_a_part_of_a_study_and_what_is_no_results_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = made.saved(
        tmp_path / "part", made.grid(), made.MANIFEST | {"complete": False, "runs": 99}
    )
    assert "holds a part of the study" in refused(monkeypatch, capsys, part)
    (tmp_path / "empty").mkdir()
    assert "an empty directory, not results of Headway" in refused(
        monkeypatch, capsys, tmp_path / "empty"
    )


def test_a_damaged_document_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = made.saved(tmp_path / "results", made.grid())
    (results / NEARBY).mkdir()
    (results / NEARBY / FILE).write_text('{"study": 3}')
    assert run(monkeypatch, "report", str(results)) == 2
    error = capsys.readouterr().err
    assert FILE in error and "is damaged" in error


def test_a_neighbour_at_which_a_contender_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = carried_out(tmp_path / "results")

    def fails(name: str) -> str | None:
        return "gave up" if "rtt-of-120-ms" in name and "-h3-" in name else None

    replace_labs(
        monkeypatch, takes=lambda name, _: about(0.8 if "-h3-" in name else 1, name), fails=fails
    )
    assert run(monkeypatch, "nearby", str(results), "--runs", "400", "--jobs", "1") == 0
    assert "cannot be compared at an RTT of 120 ms" in " ".join(capsys.readouterr().out.split())
