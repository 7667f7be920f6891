"""The page of a study's results that is kept: text, figure and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway.analysis import analyse
from headway.analysis.claims import RULES
from headway.cli.claims import print_ledger
from headway.errors import WrongInputError
from headway.report.ledger import ledger
from tests.unit.made_results import competing, experiments, run, runs, saved
from tests.unit.test_claims import FASTER

SLOW = {"contender": "h2", "value": 9000, "unit": "ms", "cell": "cell", "source": "Table 1"}
GAIN = {"contender": "h3", "against": "h2", "value": -50, "unit": "%", "cell": "cell"}
LOST = {"contender": "h3", "value": 2, "cell": "another", "source": "Table 1"}


def told(*published: dict[str, Any]) -> dict[str, Any]:
    order = {"kind": "order", "contenders": ["h2", "h3"]}
    return {
        "name": "",
        "baseline": "h2",
        "metrics": ["total_s"],
        "claims": [{"says": "h2 is faster", "place": "section 1", "rule": order}],
        "published": [{"source": "Table 1", **one} for one in published],
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    rows = [*runs(FASTER), run("h3", 99, None)]
    manifest = experiments(told(SLOW, GAIN, LOST)) | {
        "runs": 40,
        "headway": "0.1.0",
        "command": "headway reproduce made --quick",
    }
    return saved(tmp_path / "results", rows, manifest)


def test_the_page_says_how_many_hold_and_of_which_run_it_is(results: Path, tmp_path: Path) -> None:
    print_ledger(results, None, tmp_path / "made.md")
    page = (tmp_path / "made.md").read_text()
    assert "1 claim judged by our runs (does not hold: 1)." in page
    assert "3 published values beside ours (" in page
    assert (
        "From `headway reproduce made --quick`, begun 2026-08-01, with Headway 0.1.0 and lab image "
        "image-1: 21 of 40 runs, seeds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99; 1 failed." in page
    )
    assert "This is the short form (`--quick`)" in page
    assert f"Verdicts are those of the rules of {RULES}." in page
    # What is missed has no reason in the study, and its factor beside it.
    assert "it would have to be below 0 %. Why: not known." in page
    assert "| all | h2 | total_s | 1 | 1 | 0 | 0.222 | 0.222 | 0.222 | not known |" in page


def test_figure_and_tables_stand_beside_the_page(results: Path, tmp_path: Path) -> None:
    print_ledger(results, None, tmp_path / "made.md")
    page, beside = (tmp_path / "made.md").read_text(), tmp_path / "made"
    assert {file.name for file in beside.iterdir()} == {
        *("claims.csv", "samples.csv", "values.csv", "values.png", "values.svg")
    }
    for name in ("claims.csv", "samples.csv", "values.csv", "values.png"):
        assert f"(made/{name})" in page
    values = pl.read_csv(beside / "values.csv")
    assert values["published"].to_list() == [9000, -50, 2]
    svg = (beside / "values.svg").read_text()
    # Times in seconds and relative differences as ratios; what was not measured is named.
    assert "published, s" in svg
    assert "published, times as much" in svg
    assert "1 value not measured." in svg


def test_equal_results_give_equal_pages(results: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        print_ledger(results, None, tmp_path / name / "made.md")
    for file in sorted((tmp_path / "one").rglob("*.*")):
        other = tmp_path / "other" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == other.read_bytes()


def test_results_are_set_beside_what_a_study_has_published_since(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "later"\naxes.protocol = ["h2", "h3"]\n'
        '[[published]]\ncontender = "h2"\nvalue = 2\nsource = "Table 9"\n'
    )
    print_ledger(results, str(study), None)
    assert "1 published value beside ours" in capsys.readouterr().out


def test_a_page_has_the_suffix_of_one_and_a_place(results: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"must end in \.md"):
        print_ledger(results, None, tmp_path / "made")
    with pytest.raises(WrongInputError, match="No such file or directory"):
        print_ledger(results, None, tmp_path / "nowhere" / "made.md")


SHARED: dict[str, Any] = {
    "name": "",
    "metrics": ["first_ratio"],
    "question": "What does each leave to CUBIC?",
    "contenders": {"cubic": {}, "bbr": {}},
}


def shared_page(**more: Any) -> str:
    cells = {
        "deep": {
            "cubic": {"cubic": [[5.5, 4.5]] * 8},
            "bbr": {"cubic": [[2.0 + 0.1 * n] for n in range(8)], "bbr": [[8.0]] * 8},
        }
    }
    found = competing(cells, {**SHARED, **more})
    manifest = found.manifest.model_copy(update={"runs": 80})
    found = replace(found, manifest=manifest)
    return ledger(found, [[analyse(found)]])


def test_of_flows_without_claims_the_page_has_who_gets_how_much() -> None:
    page = shared_page()
    assert page.startswith("# made: who gets how much\n")
    assert "What does each leave to CUBIC?" in page
    assert "- bbr: bbr takes from cubic (" in page
    assert "| contender | share of | share |" in page
    assert "| cubic | the lesser cubic | 45 (all equal) |" in page
    # From 2.0 of 10 to 2.7 of 10.7, eight runs in all.
    assert "| bbr | cubic | 23 (20 to 25) |" in page
    assert "16 of 80 runs" in page
    assert "The study names no claims" not in page


def test_a_page_says_that_there_are_as_many_runs_as_it_took() -> None:
    looks = {"repetitions": {"until": "5 %", "most": 40}, "looks": [8, 12, 18, 27, 40]}
    page = shared_page(**looks)
    assert "16 of at most 80 runs" in page
    assert "until intervals reach at most 5 % to either side or there are 40" in page


def test_beside_claims_shares_stand_in_the_report_alone() -> None:
    order = {"kind": "order", "contenders": ["cubic", "bbr"]}
    page = shared_page(claims=[{"says": "cubic has less", "place": "here", "rule": order}])
    assert page.startswith("# made: its claims and our runs\n")
    assert "share of" not in page
