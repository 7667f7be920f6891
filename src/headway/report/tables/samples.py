"""Samples: what every contender did in every cell."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis, ContenderRuns
from headway.analysis.metric import Metric
from headway.analysis.numbers import significant
from headway.analysis.sample import SampleSummary
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, TableKind
from headway.report.tables.table import (
    NONE,
    Table,
    interval_text,
    left_out,
    level_headings,
    levels,
    number,
    shown_cells,
)

FILE = "samples.csv"


def samples_table(analysis: Analysis) -> Table:
    """Every contender's sample in every cell, or in those that tell most."""
    headed = analysis.metric.headed
    cells = shown_cells(analysis, len(analysis.contenders))
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "n",
            "failed",
            headed("median"),
            "interval",
            "coverage",
            *([f"from {best:g}, median [×]"] if (best := analysis.metric.best) is not None else []),
            headed("mean"),
            "s. d.",
            "least",
            "greatest",
        ),
        rows=tuple(
            tuple((*levels(analysis, cell), *_row(analysis.metric, side)) for side in cell.sides)
            for cell in cells
        ),
        labels=len(analysis.conditions.factors) + 1,
        remark=left_out(analysis, cells, FILE),
    )


def _row(metric: Metric, side: ContenderRuns) -> tuple[str, ...]:
    failed = f"{side.failures} of {side.runs}" if side.failures else "0"
    sample = side.sample
    if sample is None:
        return (side.contender, "0", failed, *[NONE] * (7 if metric.best is None else 8))
    return (
        side.contender,
        str(sample.n),
        failed,
        significant(sample.median, 4),
        interval_text(sample.interval, 4),
        _coverage(sample),
        *([metric.distance(side.measured).strip(" (×)")] if metric.best is not None else []),
        significant(sample.mean, 4),
        number(sample.sd, 2),
        significant(sample.low, 4),
        significant(sample.high, 4),
    )


def _coverage(sample: SampleSummary) -> str:
    """Coverage of the median's interval, where there is an interval to speak of."""
    if sample.constant or sample.interval is None:
        return NONE
    return f"{sample.interval.coverage * 100:.1f} %"


def samples_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Every sample with every number, a row per experiment, metric, cell and contender."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "metric": analysis.metric.column,
            "unit": analysis.metric.unit,
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "runs": side.runs,
            "failed": side.failed,
            "timeouts": side.timeouts,
            "n": side.sample.n if side.sample else 0,
            **_numbers(side.sample),
        }
        for analysis in analyses
        for cell in analysis.cells
        for side in cell.sides
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(sample: SampleSummary | None) -> dict[str, float | str | None]:
    interval = sample.interval if sample else None
    mean_interval = sample.mean_interval if sample else None
    return {
        "median": sample.median if sample else None,
        "median_low": interval.low if interval else None,
        "median_high": interval.high if interval else None,
        "median_coverage": interval.coverage if interval else None,
        "median_method": interval.method if interval else None,
        "mean": sample.mean if sample else None,
        "mean_low": mean_interval.low if mean_interval else None,
        "mean_high": mean_interval.high if mean_interval else None,
        "sd": sample.sd if sample else None,
        "lower_quartile": sample.quartiles[0] if sample else None,
        "upper_quartile": sample.quartiles[1] if sample else None,
        "least": sample.low if sample else None,
        "greatest": sample.high if sample else None,
    }


KIND = TableKind(
    place=20,
    section=Section.NUMBERS,
    caption=lambda matter: f"Samples: {matter.first.metric.label}",
    table=lambda matter: samples_table(matter.first),
    file=FILE,
    frame=lambda matter: samples_frame(matter.everything),
    every_metric=True,
    kept=KeptFile("samples", "medians and means with intervals by cell and contender"),
)
