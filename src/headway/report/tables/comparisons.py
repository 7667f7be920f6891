"""Comparisons: every pair of contenders that the experiment compares, in every cell."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis, Basis, Comparison, sentence
from headway.analysis.estimate_text import signed
from headway.analysis.metric import Metric
from headway.analysis.numbers import p_value
from headway.analysis.overview import ComparisonOutcome, outcome
from headway.analysis.significance import TestResult
from headway.report.section import Section
from headway.report.tables.kind import Matter, TableKind
from headway.report.tables.table import (
    NONE,
    Table,
    left_out,
    level_headings,
    levels,
    number,
    shown_cells,
)

FILE = "comparisons.csv"
_READ = (
    "Differences are the contender before the colon minus the one after it; p-values are adjusted for the number of "
    "comparisons. ‡ With so few runs this test cannot reach its level, whatever they measure; it then has no say."
)


def comparisons_table(analysis: Analysis) -> Table:
    """Every comparison of every cell, or of those that tell most."""
    cells = shown_cells(analysis, len(analysis.pairings))
    return Table(
        headings=(
            *level_headings(analysis),
            "compared",
            "outcome",
            "difference [%]",
            "interval",
            "p",
            "delta",
            f"pairs {analysis.metric.words[0]}",
            "Welch p",
            "Mann-Whitney p",
            "Kolmogorov-Smirnov p",
            "Cliff's δ",
        ),
        rows=tuple(
            tuple(
                (*levels(analysis, cell), *_row(comparison, analysis.metric))
                for comparison in cell.comparisons
            )
            for cell in cells
            if cell.comparisons
        ),
        labels=len(analysis.conditions.factors) + 2,
        remark=f"{left_out(analysis, cells, FILE)} {_READ}".strip(),
    )


def _row(comparison: Comparison, metric: Metric) -> tuple[str, ...]:
    pairs = comparison.pairs
    return (
        f"{comparison.contender} : {comparison.against}",
        metric.said(_outcome(comparison)),
        *_estimate(comparison),
        _test(comparison.test),
        number(comparison.delta, 2),
        f"{pairs.faster} of {pairs.n}" if pairs.n else NONE,
        _test(comparison.welch),
        _test(comparison.mann_whitney),
        _test(comparison.kolmogorov_smirnov),
        number(comparison.cliffs_delta, 2),
    )


def _estimate(comparison: Comparison) -> tuple[str, str]:
    """The difference and its interval, or the range that too few pairs leave."""
    if comparison.relative is None:
        return NONE, NONE
    written, interval = signed(comparison.difference), comparison.relative_interval
    if comparison.on_one_path:
        return written.value, "exact path, n = 1"
    if interval and interval.low == interval.high:
        return written.value, "all equal"
    kind = "" if interval is None or interval.reaches_level else "range "
    return written.value, f"{kind}{written.ends}" if interval else NONE


def _outcome(comparison: Comparison) -> str:
    text = outcome(comparison).value
    if comparison.basis is Basis.EVERY_RUN and outcome(comparison) is not ComparisonOutcome.EQUAL:
        return f"{text}, every run"
    return f"{text}, {comparison.spread.value}" if comparison.spread else text


def _test(test: TestResult | None) -> str:
    """The adjusted p-value, marked if it cannot be small enough."""
    if test is None:
        return NONE
    p = p_value(test.adjusted).removeprefix("p ").removeprefix("= ")
    return p if test.can_decide else f"{p} ‡"


def comparisons_frame(analyses: Sequence[Analysis], words: bool = True) -> pl.DataFrame:
    """Every comparison with every number, and in words, which take longest, unless not wanted."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "unit": analysis.metric.unit,
            "cell": cell.name,
            "title": cell.title,
            "contender": comparison.contender,
            "against": comparison.against,
            **_difference(comparison),
            **_pairs(comparison),
            **_test_numbers("deciding", comparison.test),
            "deciding_test": comparison.test.name if comparison.test else None,
            "deciding_family": comparison.test.family if comparison.test else None,
            **_test_numbers("welch", comparison.welch),
            **_test_numbers("mann_whitney", comparison.mann_whitney),
            **_test_numbers("kolmogorov_smirnov", comparison.kolmogorov_smirnov),
            "cliffs_delta": comparison.cliffs_delta,
            "verdict": comparison.verdict.value,
            "basis": comparison.basis.value,
            "exact_path": comparison.on_one_path,
            "spread": comparison.spread.value if comparison.spread else None,
            "outcome": outcome(comparison).value,
            **({"in_words": sentence(cell, comparison, analysis.metric)} if words else {}),
        }
        for analysis in analyses
        for cell in analysis.cells
        for comparison in cell.comparisons
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _difference(comparison: Comparison) -> dict[str, float | bool | None]:
    interval = comparison.relative_interval
    return {
        "relative_difference": comparison.relative,
        "relative_low": interval.low if interval else None,
        "relative_high": interval.high if interval else None,
        "relative_level": interval.level if interval and interval.reaches_level else None,
        "detectable_difference": comparison.difference.detectable,
        "equivalent": comparison.difference.equivalent,
        "delta": comparison.delta,
    }


def _pairs(comparison: Comparison) -> dict[str, float | None]:
    return {
        "pairs": comparison.pairs.n,
        "pairs_faster": comparison.pairs.faster,
        "pairs_slower": comparison.pairs.slower,
        "paired_variance": comparison.pairs.variance_left,
    }


def _test_numbers(name: str, test: TestResult | None) -> dict[str, float | str | None]:
    return {
        f"{name}_statistic": test.statistic if test else None,
        f"{name}_p": test.p if test else None,
        f"{name}_p_adjusted": test.adjusted if test else None,
        f"{name}_smallest_p": test.smallest_p if test else None,
        f"{name}_method": test.method if test else None,
    }


def _caption(matter: Matter) -> str:
    across = f" across {matter.axis}" if matter.axis else ""
    return f"Comparisons{across}: {matter.first.metric.label}"


KIND = TableKind(
    place=30,
    section=Section.NUMBERS,
    caption=_caption,
    table=lambda matter: comparisons_table(matter.first),
    file=FILE,
    frame=lambda matter: comparisons_frame(matter.everything),
    every_metric=True,
    of_differences=True,
)
