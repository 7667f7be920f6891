"""What single faults come to: refusals, plans, methods, and connections that die of one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from headway.analysis import analyse, answer
from headway.analysis.result_loading import StudyResults
from headway.analysis.usability import complaints
from headway.campaign.failfast import FailFast
from headway.cli.plan_tables import print_plan
from headway.planning.runs import plan
from headway.report.figures.faults import KIND as FAULTS
from headway.report.figures.kind import Subject
from headway.report.paragraph import methods_paragraph
from headway.report.sheet import Text
from headway.report.styles import study_styles
from headway.study.load import study_from
from tests.unit import made_results
from tests.unit.test_faults import TABLES, record, results


def _rows(met: int = 1) -> list[dict[str, Any]]:
    rows = made_results.runs(
        {"h2": [1.0, 1.1], "h3": [0.8, 0.9]}, cell="none", fault="none", fault_met=0
    )
    rows += made_results.runs(
        {"h2": [1.5, 1.6], "h3": [None, None]}, cell="lost", fault="lose down 3", fault_met=met
    )
    for row in rows:
        row["error"] = (
            f"no answer after 1000{row['seed']} ms" if row["status"] == "failed" else None
        )
    return rows


_GRID = [
    {"name": "none", "at": {"fault": "none"}},
    {"name": "lost", "at": {"fault": "lose down 3"}},
]
_AXIS = made_results.experiments({"grid": _GRID})


def _with_axis(met: int = 1) -> StudyResults:
    return made_results.results(_rows(met), _AXIS)


def _saved(directory: Path, met: int = 1) -> None:
    made_results.saved(directory, _rows(met), _AXIS)


def test_a_connection_that_dies_of_its_fault_is_a_result_and_no_failure(tmp_path: Path) -> None:
    told = answer(analyse(_with_axis()))
    assert any(
        one.startswith(
            "h3 does not survive the fault lose down 3 (2 of 2 runs with it): no answer after"
        )
        for one in told
    )
    assert not any("h3 failed in" in one or "other reason" in one for one in told)
    _saved(tmp_path)
    assert not complaints(tmp_path, allow_failures=False, strict=False)


def test_a_run_whose_fault_did_not_take_place_fails_as_any_other(tmp_path: Path) -> None:
    told = answer(analyse(_with_axis(met=0)))
    assert any(
        one.startswith("h3 failed in 2 of 4 runs, all with the fault lose down 3") for one in told
    )
    _saved(tmp_path, met=0)
    (said,) = complaints(tmp_path, allow_failures=False, strict=False)
    assert said.startswith("2 of 8 runs failed")


def test_runs_that_die_of_their_faults_do_not_end_a_study() -> None:
    one = study_from({**{k: v for k, v in TABLES.items() if k != "faults"}, "repetitions": 20})
    runs = plan(one)
    for met, gives_up in ((1, False), (0, True)):
        failfast = FailFast(runs)
        died = [record(run, None) for run in runs[:24]]
        failfast.hear(
            [made.model_copy(update={"fault_met": met, "error": "no answer"}) for made in died]
        )
        assert bool(failfast.verdict(Path())) is gives_up


def test_a_plan_says_what_a_sweep_tries_in_a_line() -> None:
    console = Console(file=io.StringIO(), width=80)
    study = study_from({**TABLES, "faults": {"packets": "handshake"}})
    print_plan(console, study, plan(study), labs=1)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    said = " ".join(text.split())
    assert (
        "none; lose each packet of the handshake, towards the server and the client: at most"
        in said
    )
    assert "lose up 2" not in text


def test_methods_say_what_was_done_to_packets() -> None:
    found = results()
    said = methods_paragraph(found, [analyse(found)])
    assert (
        "Single faults (lose each packet from 1 to 3, towards the client) were tried one at a time"
        in said
    )
    assert "the difference from the run of the same seed without one" in said
    axis = _with_axis()
    assert "The faults happened to the packets of these numbers" in methods_paragraph(
        axis, [analyse(axis)]
    )


def test_the_figure_of_faults_fits_a_narrow_screen() -> None:
    analysis = analyse(results())
    picture = FAULTS.draw(Subject(analysis, study_styles([analysis])))
    assert picture and picture.narrow
    for shape in picture.narrow.shapes:
        if isinstance(shape, Text):
            assert 0 <= shape.x <= picture.narrow.width
