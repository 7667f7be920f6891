"""The tables of the report: as data, every number in full, and as text to be read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis import Analysis, Basis, Cell, Comparison, Results, Side
from headway.analysis.manifest import SelfTest
from headway.analysis.numbers import p_value, plain, signed_percent, significant
from headway.analysis.overview import Outcome, outcome
from headway.analysis.sample import Interval, Sample
from headway.analysis.significance import TestResult
from headway.results.schema import Status

_NONE = "–"


@dataclass(frozen=True)
class Table:
    """A table to be read.

    Attributes:
        headings: column headings.
        rows: groups of rows that belong together; every row has a text per column.
        labels: number of columns from the left that are words rather than numbers.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], ...], ...]
    labels: int


def samples_table(analysis: Analysis) -> Table:
    """Every contender's sample in every cell."""
    unit = analysis.metric.unit
    return Table(
        headings=(
            *(factor.name for factor in analysis.conditions.factors),
            "contender",
            "n",
            "failed",
            f"median [{unit}]",
            "interval",
            "coverage",
            f"mean [{unit}]",
            "s. d.",
            "least",
            "greatest",
        ),
        rows=tuple(
            tuple((*_levels(analysis, cell), *_sample_row(side)) for side in cell.sides)
            for cell in analysis.cells
        ),
        labels=len(analysis.conditions.factors) + 1,
    )


def _levels(analysis: Analysis, cell: Cell) -> tuple[str, ...]:
    factors = analysis.conditions.factors
    return tuple(factor.levels[level] for factor, level in zip(factors, cell.levels, strict=True))


def _sample_row(side: Side) -> tuple[str, ...]:
    failed = f"{side.failures} of {side.runs}" if side.failures else "0"
    sample = side.sample
    if sample is None:
        return (side.contender, "0", failed, *[_NONE] * 7)
    return (
        side.contender,
        str(sample.n),
        failed,
        significant(sample.median, 4),
        _interval(sample.interval, 4),
        _coverage(sample),
        significant(sample.mean, 4),
        _NONE if sample.sd is None else significant(sample.sd, 2),
        significant(sample.low, 4),
        significant(sample.high, 4),
    )


def _interval(interval: Interval | None, digits: int) -> str:
    if interval is None:
        return _NONE
    if interval.low == interval.high:
        return "all equal"
    return f"{significant(interval.low, digits)} to {significant(interval.high, digits)}"


def _coverage(sample: Sample) -> str:
    """Coverage of the median's interval, where there is an interval to speak of."""
    if sample.constant or sample.interval is None:
        return _NONE
    return f"{sample.interval.coverage * 100:.1f} %"


def comparisons_table(analysis: Analysis) -> Table:
    """Every comparison of every cell."""
    unit = analysis.metric.unit
    return Table(
        headings=(
            *(factor.name for factor in analysis.conditions.factors),
            "compared",
            "outcome",
            "medians [%]",
            f"paired, median [{unit}]",
            "interval",
            "pairs faster",
            "Welch p",
            "Mann-Whitney p",
            "Cliff's δ",
        ),
        rows=tuple(
            tuple((*_levels(analysis, cell), *_comparison_row(one)) for one in cell.comparisons)
            for cell in analysis.cells
            if cell.comparisons
        ),
        labels=len(analysis.conditions.factors) + 2,
    )


def _comparison_row(one: Comparison) -> tuple[str, ...]:
    pairs = one.pairs
    return (
        f"{one.contender} : {one.against}",
        _outcome(one),
        _NONE if one.relative is None else signed_percent(one.relative),
        _NONE if pairs.median is None else significant(pairs.median, 3),
        _interval(pairs.interval, 3),
        f"{pairs.faster} of {pairs.n}" if pairs.n else _NONE,
        _test(one.welch),
        _test(one.mann_whitney),
        _NONE if one.cliffs_delta is None else significant(one.cliffs_delta, 2),
    )


def _outcome(one: Comparison) -> str:
    every = one.basis is Basis.EVERY_RUN and outcome(one) is not Outcome.EQUAL
    return f"{outcome(one).value}, every run" if every else outcome(one).value


def _test(test: TestResult | None) -> str:
    if test is None:
        return _NONE
    p = p_value(test.p).removeprefix("p ").removeprefix("= ")
    return p if test.can_decide else f"{p} ‡"


def limits_table(analysis: Analysis) -> Table:
    """What limited the runs of every contender in every cell; no rows if nothing is known."""
    rows = tuple(
        ((*_levels(analysis, cell), *(_limits(cell.side(name)) for name in analysis.contenders)),)
        for cell in analysis.cells
    )
    known = any(side.limited_by for cell in analysis.cells for side in cell.sides)
    count = len(analysis.conditions.factors)
    headings = (*(factor.name for factor in analysis.conditions.factors), *analysis.contenders)
    return Table(headings, rows if known else (), count + len(analysis.contenders))


def _limits(side: Side | None) -> str:
    if side is None or not side.limited_by:
        return _NONE
    if len(side.limited_by) == 1:
        return side.limited_by[0][0]
    return ", ".join(f"{name} {count}" for name, count in side.limited_by)


def failures_frame(runs: pl.DataFrame) -> pl.DataFrame:
    """Failures by cell, contender and reason, with their number and seeds."""
    return (
        runs.filter(pl.col("status") != Status.OK.value)
        .with_columns(pl.col("error").fill_null("no reason recorded"))
        .group_by("cell", "contender", "status", "error")
        .agg(
            pl.len().alias("runs"),
            pl.col("seed").unique().sort().cast(pl.String).str.join(", ").alias("seeds"),
        )
        .sort("cell", "contender", "status", "error")
    )


def failures_table(results: Results, analysis: Analysis) -> Table:
    """The failures to be read, in the order of the cells."""
    titles = {cell.name: cell.title or cell.name for cell in analysis.cells}
    places = {name: place for place, name in enumerate(titles)}
    rows = sorted(failures_frame(results.runs).iter_rows(), key=lambda row: places[row[0]])
    return Table(
        headings=("cell", "contender", "ended", "reason", "runs", "seeds"),
        rows=tuple(
            ((titles[cell], contender, status, error, str(count), seeds),)
            for cell, contender, status, error, count, seeds in rows
        ),
        labels=4,
    )


def self_test_table(results: Results) -> Table:
    """What the emulation's test of itself measured, path by path."""
    by_path = itertools.groupby(results.manifest.self_test, key=lambda test: test.path)
    return Table(
        headings=("path", "checked", "expected", "measured", "allowed", "passed"),
        rows=tuple(tuple(_self_test_row(test) for test in tests) for _, tests in by_path),
        labels=2,
    )


def _self_test_row(test: SelfTest) -> tuple[str, ...]:
    return (
        test.path,
        test.name,
        _quantity(test.expected, test.unit),
        _quantity(test.measured, test.unit),
        f"{_quantity(test.low, '')} to {_quantity(test.high, test.unit)}",
        "yes" if test.passed else "NO",
    )


def _quantity(value: float | None, unit: str) -> str:
    return _NONE if value is None else f"{plain(value)} {unit}".strip()


def settings_table(results: Results) -> Table:
    """What the adapters set in the programs, and why."""
    return Table(
        headings=("program", "setting", "value", "why"),
        rows=tuple(
            ((one.program, one.setting, one.value, one.why),) for one in results.manifest.settings
        ),
        labels=4,
    )


def samples_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every sample with every number, a row per metric, cell and contender."""
    rows = [
        {
            "metric": analysis.metric.column,
            "unit": analysis.metric.unit,
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "runs": side.runs,
            "failed": side.failed,
            "timeouts": side.timeouts,
            "n": side.sample.n if side.sample else 0,
            **_sample_numbers(side),
            "limited_by": "; ".join(f"{name}: {count}" for name, count in side.limited_by),
        }
        for analysis in analyses
        for cell in analysis.cells
        for side in cell.sides
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _sample_numbers(side: Side) -> dict[str, float | str | None]:
    sample = side.sample
    interval = sample.interval if sample else None
    return {
        "median": sample.median if sample else None,
        "median_low": interval.low if interval else None,
        "median_high": interval.high if interval else None,
        "median_coverage": interval.coverage if interval else None,
        "median_method": interval.method if interval else None,
        "mean": sample.mean if sample else None,
        "sd": sample.sd if sample else None,
        "least": sample.low if sample else None,
        "greatest": sample.high if sample else None,
    }


def comparisons_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every comparison with every number, a row per metric, cell and contender."""
    rows = [
        {
            "metric": analysis.metric.column,
            "unit": analysis.metric.unit,
            "cell": cell.name,
            "title": cell.title,
            "contender": one.contender,
            "against": one.against,
            "relative_difference": one.relative,
            "pairs": one.pairs.n,
            "pairs_faster": one.pairs.faster,
            "pairs_slower": one.pairs.slower,
            "paired_median": one.pairs.median,
            "paired_low": one.pairs.interval.low if one.pairs.interval else None,
            "paired_high": one.pairs.interval.high if one.pairs.interval else None,
            **_test_numbers("welch", one.welch),
            **_test_numbers("mann_whitney", one.mann_whitney),
            "cliffs_delta": one.cliffs_delta,
            "verdict": one.verdict.value,
            "basis": one.basis.value,
            "outcome": outcome(one).value,
        }
        for analysis in analyses
        for cell in analysis.cells
        for one in cell.comparisons
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _test_numbers(name: str, test: TestResult | None) -> dict[str, float | str | None]:
    return {
        f"{name}_statistic": test.statistic if test else None,
        f"{name}_p": test.p if test else None,
        f"{name}_smallest_p": test.smallest_p if test else None,
        f"{name}_method": test.method if test else None,
    }
