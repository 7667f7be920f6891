"""Levels of an axis compared as contenders are: every contender at a level against itself at another."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from headway.analysis import Verdict
from headway.analysis.acrosslevels import Across, across_levels
from headway.analysis.result_loading import StudyResults
from headway.records.archived_study import archived_study
from headway.report import Report
from headway.report.single_outputs import Wanted, chosen
from headway.study.load import Source, parse_study
from tests.unit import made_results as made

SEEDS = 8
LOSSES, RATES = ("0 %", "2 %"), ("10 Mbit/s", "50 Mbit/s")


def results(seed_of_second: int = 1, **compare: Any) -> StudyResults:
    """Two contenders, two losses, two rates: loss costs h2 half its speed, and h3 nothing."""
    rows: list[dict[str, Any]] = []
    grid = []
    for loss in LOSSES:
        for rate in RATES:
            cell = f"{loss}-{rate}"
            grid.append({"name": cell, "at": {"path.loss": loss, "path.rate": rate}})
            first = seed_of_second if loss == LOSSES[1] else 1
            for seed in range(first, first + SEEDS):
                luck = 1 + seed / 100
                for name in ("h2", "h3"):
                    slow = 2.0 if loss == LOSSES[1] and name == "h2" else 1.0
                    percent, mbit = float(loss[:-2]), float(rate.split()[0])
                    rows.append(
                        made.run(
                            name,
                            seed,
                            slow * luck + (seed % 3) / 1000,
                            cell=cell,
                            loss_pct=percent,
                            loss_up_pct=percent,
                            rate_mbit=mbit,
                            rate_up_mbit=mbit,
                        )
                    )
    told = {
        "name": "",
        "metrics": ["total_s"],
        "contenders": {"h2": {}, "h3": {}},
        "grid": grid,
        **({"compare": compare} if compare else {}),
    }
    return made.results(rows, made.experiments(told))


def across(found: StudyResults) -> Across:
    one = across_levels(found, found.experiments[0])
    assert one is not None
    return one


def test_levels_are_what_is_compared_and_contenders_what_cells_are_called_by() -> None:
    found = across(results(axis="path.loss"))
    (analysis,) = found.analyses
    assert analysis.contenders == ("0 %", "2 %") and analysis.baseline == "0 %"
    assert [cell.title for cell in analysis.cells] == [
        "h2, 10 Mbit/s",
        "h2, 50 Mbit/s",
        "h3, 10 Mbit/s",
        "h3, 50 Mbit/s",
    ]
    verdicts = {cell.title: one.verdict for cell, one in analysis.comparisons}
    assert verdicts == {
        "h2, 10 Mbit/s": Verdict.SLOWER,
        "h2, 50 Mbit/s": Verdict.SLOWER,
        "h3, 10 Mbit/s": Verdict.EQUAL,
        "h3, 50 Mbit/s": Verdict.EQUAL,
    }
    _, slower = analysis.comparisons[0]
    assert slower.relative == pytest.approx(1.0, abs=0.01) and slower.pairs.n == SEEDS


def test_runs_are_paired_by_their_seeds() -> None:
    found = across(results(axis="path.loss"))
    assert found.paired
    assert found.said == "each contender against itself at 0 %, by runs with the same seed"


def test_levels_without_common_seeds_are_said_to_be_unpaired() -> None:
    found = across(results(seed_of_second=100, axis="path.loss"))
    assert not found.paired and "without pairs, because seeds differ" in found.said
    assert not any(one.is_paired for _, one in found.analyses[0].comparisons)


def test_the_baseline_may_be_any_level() -> None:
    found = across(results(axis="path.loss", baseline="2 %"))
    assert found.baseline == "2 %"
    assert found.analyses[0].comparisons[0][1].verdict is Verdict.FASTER


def test_nothing_is_compared_that_is_not_asked_for() -> None:
    found = results()
    assert across_levels(found, found.experiments[0]) is None


def test_a_single_contender_needs_no_name_in_cells() -> None:
    found = results(axis="path.loss")
    alone = StudyResults(found.runs.filter(pl.col("contender") == "h2"), found.manifest)
    experiment = alone.experiments[0].model_copy(update={"contenders": {"h2": {}}})
    one = across_levels(alone, experiment)
    assert one is not None
    assert [cell.title for cell in one.analyses[0].cells] == ["10 Mbit/s", "50 Mbit/s"]


def test_the_report_has_a_section_of_it(tmp_path: Path) -> None:
    found = results(axis="path.loss")
    directory = made.saved(
        tmp_path / "results", found.runs.to_dicts(), found.manifest.model_dump(mode="json")
    )
    report = Report.of(directory)
    page = report.write().read_text()
    assert "Across loss</h3>" in page and "Each contender against itself at 0" in page
    assert (directory / "report" / "across-loss-total_s-differences.svg").exists()
    table = pl.read_csv(directory / "report" / "comparisons.csv")
    assert table["experiment"].fill_null("").unique().sort().to_list() == ["", "across-loss"]
    stream = io.StringIO()
    report.print_summary(Console(file=stream, width=80, color_system=None))
    assert "Across loss: each contender against itself at 0 %" in stream.getvalue()


STUDY = """name = "s"
repetitions = 6
{compare}
[axes]
path.loss = ["0 %", "2 %"]
protocol = ["h2", "h3"]

[path]
rate = "10 Mbit/s"
"""


def parsed(compare: str) -> Any:
    return parse_study(Source("s.toml", STUDY.format(compare=compare), Path()))


def test_a_study_names_the_axis_and_perhaps_the_level() -> None:
    for compare in (
        'compare = "path.loss"',
        'compare = { axis = "path.loss" }',
        'compare = { axis = "path.loss", baseline = "2 %" }',
    ):
        asked = parsed(compare).experiments[0].compare
        assert asked.axis == "path.loss"
    assert asked.baseline == "2 %"
    assert archived_study(parsed(compare)).experiments[0].compare == asked
    assert "compare" not in archived_study(parsed("")).experiments[0].model_fields_set


def test_its_figures_can_be_drawn_for_paper(tmp_path: Path) -> None:
    found = results(axis="path.loss")
    directory = made.saved(
        tmp_path / "results", found.runs.to_dicts(), found.manifest.model_dump(mode="json")
    )
    every = {one.name for one in chosen(directory, Wanted()).pictures}
    assert {"across-loss-total_s-forest", "across-loss-total_s-differences"} <= every
    some = chosen(directory, Wanted(cells=("h2",))).pictures
    assert {one.name for one in some} == {
        "across-loss-total_s-forest",
        "across-loss-total_s-differences",
    }
