"""Metrics that are best at a value: judged by how far they are from it, up or down."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich.console import Console

from headway.analysis import Analysis, StudyResults, Verdict, analyse, answer, sentences
from headway.analysis.metric import metric_named
from headway.analysis.rules import findings_by_cell
from headway.columns import METRICS
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.heatmap import shade
from headway.report.figures.kind import Subject
from headway.report.styles import study_styles
from headway.report.summary import print_analyses
from headway.report.tables.comparisons import comparisons_table
from headway.report.tables.samples import samples_table
from headway.report.theme import PAPER, SLOWER
from headway.study.claim import Claim
from tests.unit import made_results as made


def shares(ratios: Mapping[str, Sequence[float]], cell: str = "cell") -> list[dict[str, Any]]:
    """Runs whose first flow got so many times as much as the others."""
    return [
        made.run(name, seed, 10.0, first_ratio=ratio, protocol="tcp", cell=cell)
        for name, values in ratios.items()
        for seed, ratio in enumerate(values, start=1)
    ]


def results_of(ratios: Mapping[str, Sequence[float]], baseline: str) -> StudyResults:
    told = {"name": "", "metrics": ["first_ratio"], "baseline": baseline}
    return made.results(shares(ratios), made.experiments(told))


def analysis_of(ratios: Mapping[str, Sequence[float]], baseline: str) -> Analysis:
    results = results_of(ratios, baseline)
    return analyse(results, results.experiments[0], "first_ratio")


def around(middle: float) -> list[float]:
    return [middle * factor for factor in (0.99, 1.0, 1.01, 0.98, 1.02, 1.005, 0.995, 1.0)]


def test_only_a_ratio_of_equals_is_best_in_between() -> None:
    assert {name for name, one in METRICS.items() if one.ranking and one.ranking.best} == {
        "first_ratio",
        "videos_first_ratio",
    }
    assert METRICS["first_ratio"].ranking is not None
    assert METRICS["first_ratio"].ranking.told == "nearest to 1"


def test_half_and_twice_are_as_far_from_one() -> None:
    metric = metric_named("first_ratio")
    assert metric.away(0.5) == metric.away(2.0) == 2.0
    assert metric.away(1.0) == 1.0 and metric.away(0.0) == float("inf")
    assert metric.as_measured.away(0.5) == 0.5
    assert metric_named("total_s").away(0.5) == 0.5 and not metric_named("total_s").remark


def test_more_than_even_is_no_better_than_even() -> None:
    """The greater ratio is not the better one: 1.86 and 0.467 are both far from even."""
    analysis = analysis_of(
        {"even": around(1.0), "first": around(1.86), "last": around(0.467)}, "even"
    )
    (cell,) = analysis.cells
    for one in cell.comparisons:
        assert one.verdict is Verdict.SLOWER and one.relative is not None
        assert shade(one)[0] in SLOWER
    first, last = (one.relative for one in cell.comparisons)
    assert first == pytest.approx(0.85, abs=0.02) and last == pytest.approx(1.12, abs=0.02)
    assert cell.winner == "even"
    said = answer(analysis)
    assert any("first is less even than even by 8" in one for one in said)
    assert any("last is less even than even by a factor of 2.1" in one for one in said)
    assert not any(word in " ".join(said) for word in ("higher", "lower", "faster", "slower"))


def test_what_is_as_far_from_even_on_the_other_side_leads_with_it() -> None:
    twice = around(2.0)
    analysis = analysis_of({"half": [1 / one for one in twice], "twice": twice}, "half")
    (cell,) = analysis.cells
    (one,) = cell.comparisons
    assert one.verdict is Verdict.EQUAL and not one.matters
    assert cell.winner is None and cell.leaders == ("half", "twice")
    assert shade(one)[0] is PAPER


def test_constants_on_both_sides_are_told_as_what_they_are() -> None:
    analysis = analysis_of({"half": [0.5] * 6, "twice": [2.0] * 6}, "half")
    assert (
        "twice and half are as far from 1 in every run (2.00 (×2.00 from 1) against 0.500 (×2.00 from 1);"
        in answer(analysis)[0]
    )


def test_a_trifle_above_one_is_not_clearly_best() -> None:
    """Ratios of 1.03 and 0.992 differ by what runs scatter: nothing is bold."""
    above = [1.08, 0.97, 1.05, 1.01, 1.04, 0.98, 1.06, 1.02]
    below = [0.95, 1.03, 0.98, 1.01, 0.94, 1.04, 0.99, 0.97]
    analysis = analysis_of({"below": below, "above": above}, "below")
    assert analysis.cells[0].winner is None


def test_figures_say_what_they_compare() -> None:
    analysis = analysis_of(
        {"even": around(1.0), "first": around(1.86), "last": around(0.5)}, "even"
    )
    subject = Subject(analysis, study_styles([analysis]))
    for kind in (HEATMAP, BOXES):
        picture = kind.draw(subject)
        assert picture is not None
        assert "Best is 1:" in picture.caption and "fastest" not in picture.caption
    assert "more even" in {getattr(one, "text", "") for one in HEATMAP.draw(subject).wide.shapes}  # type: ignore[union-attr]


def test_the_table_of_comparisons_has_the_metrics_words() -> None:
    analysis = analysis_of({"even": around(1.0), "last": around(0.5)}, "even")
    table = comparisons_table(analysis)
    assert "pairs more even" in table.headings
    assert table.headings.count("interval") == 1
    assert table.rows[0][0][1] == "less even"


def test_the_distance_that_is_compared_stands_beside_the_value() -> None:
    """Half below 1 and half above it: the median of values is next to 1, and far from where any run was."""
    split = [0.5, 2.0, 0.52, 1.9, 0.49, 2.1, 0.51, 1.95]
    rows = {"even": around(1.03)[:8], "split": split}
    analysis = analysis_of(rows, "even")
    (said,) = sentences(analysis)
    assert "(×1.98 from 1) against 1.03 (×1.03 from 1)" in said
    console = Console(file=io.StringIO(), width=120)
    print_analyses(console, results_of(rows, "even"), [[analysis]])
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "(×1.98)" in text and "(×1.03)" in text and "The median of that is in brackets" in text
    table = samples_table(analysis)
    assert "from 1, median [×]" in table.headings
    assert "1.98" in table.rows[0][1]
    picture = BOXES.draw(Subject(analysis, study_styles([analysis])))
    assert picture
    words = {getattr(one, "text", "") for one in picture.wide.shapes}
    assert any("(×1.98)" in one for one in words)


def claim(**rule: Any) -> Claim:
    return Claim.model_validate(
        {"says": "so", "place": "here", "metric": "first_ratio", "rule": rule}
    )


def test_an_order_is_of_what_is_nearer_and_a_difference_of_values() -> None:
    analysis = analysis_of({"even": around(1.0), "last": around(0.5)}, "even")
    order = claim(kind="order", contenders=["even", "last"])
    (finding,) = findings_by_cell(analysis, order)[0]
    assert finding.value is not None and finding.value < 0  # nearer to 1
    gap = claim(kind="difference", contender="last", against="even", value=-50, unit="%")
    (finding,) = findings_by_cell(analysis, gap)[0]
    assert finding.value == pytest.approx(-50, abs=1)
