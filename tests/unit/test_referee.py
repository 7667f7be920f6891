"""The page for a referee is counted from the pages of results, and names commands that their studies understand."""

from __future__ import annotations

import csv
import itertools
import shlex
from pathlib import Path

import pytest

from headway.cli.changes import parsed_changes
from headway.planning.runs import plan
from headway.study.load import load_study
from tests.builtin_studies import builtin_study
from tools import referee, results_again
from tools.referee import PaperPage, Verdict, paper_pages, together
from tools.results_again import Page

PAGE = """\
# made2020: its claims and our runs

From `headway run liu2024{form}`, begun {day}, with Headway 0.1.0 and lab image 0123abcd: 6 runs, seeds 1 to 6; none failed.

## single-stream

| claim | place | our runs say | what they show |
|---|---|---|---|
| It is fast | section 1 | **does not hold** | slow |
| It is fast (twice) | section 1 | **does not hold** | slow |
| It is small | section 2 | **holds** | small |
| It is new | | **{new}** | nothing |

## What does not hold, and why

- It is fast (section 1): ours is slow; it would have to be fast. Why: why theirs is fast is not known.
- It is fast (twice) (section 1): ours is slow; it would have to be fast. Why: the path is slow.
"""
VALUES = """\
experiment,metric,cell,contender,against,from_s,to_s,origin,statistic,agreement,why
single-stream,total_s,a,h2,,,,,mean,agrees,Not known.
single-stream,total_s,a,h3,,,,,mean,differs in size,Not known.
single-stream,total_s,b,h2,,,,,mean,disagrees,The path is slow.
single-stream,total_s,b,h3,,,,,mean,differs in size,
single-stream,total_s,,h3,,,,,mean,not measured,Not known.
"""


@pytest.fixture(autouse=True)
def studies_of_all_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies that other tests have loaded are not loaded again."""
    monkeypatch.setattr(referee, "_study", builtin_study)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (referee, results_again):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path


def page(
    made: Path, name: str, day: str = "2026-11-20", form: str = "", new: str = "holds"
) -> PaperPage:
    (made / f"{name}.md").write_text(PAGE.format(day=day, form=form, new=new), encoding="utf-8")
    (made / name).mkdir()
    (made / name / "values.csv").write_text(VALUES, encoding="utf-8")
    return PaperPage(Page(name), "made2020")


def test_the_committed_page_is_what_the_pages_of_results_say() -> None:
    assert referee.FILE.read_text(encoding="utf-8") == referee.text(), "make docs"


def test_only_missed_claims_whose_reason_says_so_are_not_known(made: Path) -> None:
    assert page(made, "whole").claims == {
        ("liu2024", "single-stream", "It is fast"): Verdict("does not hold", unknown=True),
        ("liu2024", "single-stream", "It is fast (twice)"): Verdict("does not hold", unknown=False),
        ("liu2024", "single-stream", "It is small"): Verdict("holds", unknown=False),
        ("liu2024", "single-stream", "It is new"): Verdict("holds", unknown=False),
    }


def test_a_missed_value_without_a_reason_is_not_known_and_one_without_a_cell_does_not_count(
    made: Path,
) -> None:
    verdicts = [*page(made, "whole").values.values()]
    assert [verdict.outcome for verdict in verdicts] == [
        "agrees",
        "differs in size",
        "disagrees",
        "differs in size",
    ]
    assert [verdict.unknown for verdict in verdicts] == [False, True, False, True]


def test_the_whole_overrules_its_short_form_and_a_later_day_an_earlier_one(made: Path) -> None:
    short = page(made, "short", day="2026-11-28", form=" --quick", new="undecided")
    early = page(made, "early", day="2026-11-20", new="does not hold")
    late = page(made, "late", day="2026-11-21", new="holds")
    unmeasured = page(made, "unmeasured", day="2026-11-22", new="not measured")
    new = ("liu2024", "single-stream", "It is new")
    order = sorted([late, short, unmeasured, early], key=lambda page: page.rank)
    assert order == [short, early, late, unmeasured]
    assert together([page.claims for page in order])[new].outcome == "holds"
    assert together([page.claims for page in order[:2]])[new].outcome == "does not hold"


def test_a_missed_value_that_agrees_where_its_cause_was_changed_is_known() -> None:
    def key(experiment: str, cell: str) -> tuple[str, ...]:
        return (
            "kosek2022",
            experiment,
            "goodput_mbit",
            f"{experiment}-{cell}",
            "QUIC",
            "",
            "0",
            "1",
            "",
            "mean",
        )

    missed, agrees = Verdict("differs in size", unknown=True), Verdict("agrees", unknown=False)
    values = {
        key("goodput", "a"): missed,
        key("goodput", "b"): missed,
        key("goodput", "c"): agrees,
        key("testbed", "a"): agrees,
        key("testbed", "b"): missed,
    }
    assert referee.resolved(values) == {
        key("goodput", "a"): Verdict("differs in size", unknown=False),
        key("goodput", "b"): missed,
        key("goodput", "c"): agrees,
    }


def test_claims_of_today_that_no_page_has_are_not_measured() -> None:
    today = referee.claims_today(["liu2024"])
    assert {verdict.outcome for verdict in today.values()} == {"not measured"}
    assert len(today) == sum(
        len(experiment.claims) for experiment in builtin_study("liu2024").experiments
    )


@pytest.mark.parametrize("paper_page", paper_pages(), ids=lambda paper_page: paper_page.page.name)
def test_each_command_is_of_one_cell_of_its_page_or_one_of_each_stratum(
    paper_page: PaperPage,
) -> None:
    words = shlex.split(paper_page.row_command(results_again.read_table()))
    changes = parsed_changes(
        [word for before, word in itertools.pairwise(words) if before == "--set"]
    )
    study = load_study(words[2], quick="--quick" in words, changes=changes)
    experiment = words[words.index("--only") + 1] if "--only" in words else ""
    runs = plan(study.only([experiment]) if experiment else study)
    strata = max(
        len(experiment.population.strata) if experiment.population else 1
        for experiment in study.experiments
    )
    assert len({run.cell for run in runs}) in (1, strata)
    assert {run.seed for run in runs} == {1}
    assert {run.run_id for run in runs} <= {run.run_id for run in paper_page.page.runs}


def test_every_page_has_the_seconds_of_its_row() -> None:
    with referee.ROWS.open(encoding="utf-8", newline="") as file:
        rows = {row["page"]: float(row["seconds"]) for row in csv.DictReader(file)}
    assert {*rows} == {page.page.name for page in paper_pages()}
    assert all(0 < seconds < 90 for seconds in rows.values())
