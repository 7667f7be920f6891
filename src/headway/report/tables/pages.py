"""Page loads: medians of all their metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.columns import PageMetrics, Status, columns_of, metrics_of
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import (
    Table,
    left_out,
    level_headings,
    levels,
    number,
    shown_cells,
)

FILE = "page-metrics.csv"
_HEADINGS = {
    name: metric.ranking.heading
    for name, metric in metrics_of(PageMetrics).items()
    if metric.ranking
}
"""Columns of what pages are compared by, and how they are headed."""
_COUNTS = tuple(
    name
    for name, column in columns_of(PageMetrics).items()
    if column.kind is not str and column.unit != "s" and name not in _HEADINGS
)

_Medians = Mapping[tuple[str, str], Mapping[str, Any]]
"""What page loads measured, by cell and contender."""


def pages_table(results: StudyResults, analysis: Analysis) -> Table:
    """Medians of finished loads, in seconds, a row per cell and contender; no rows without pages."""
    medians = _medians(results, analysis)
    cells = shown_cells(analysis, len(analysis.contenders))
    there = [name for name in _HEADINGS if any(row[name] is not None for row in medians.values())]
    rows = tuple(
        tuple(
            (*levels(analysis, cell), name, *_row(medians[cell.name, name], there))
            for name in analysis.contenders
            if (cell.name, name) in medians
        )
        for cell in cells
    )
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "n",
            *(_HEADINGS[name] for name in there),
        ),
        rows=tuple(group for group in rows if group) if there else (),
        labels=len(analysis.conditions.factors) + 1,
        remark=left_out(analysis, cells, FILE),
    )


def _row(values: Mapping[str, Any], there: Sequence[str]) -> tuple[str, ...]:
    return (str(values["n"]), *(number(values[name], 4) for name in there))


def _medians(results: StudyResults, analysis: Analysis) -> _Medians:
    measured = pl.any_horizontal(pl.col(name).is_not_null() for name in _HEADINGS)
    runs = results.runs_of(analysis.experiment).filter(
        pl.col("status") == Status.OK.value, measured
    )
    columns = (*_HEADINGS, *_COUNTS)
    table = runs.group_by("cell", "contender").agg(
        pl.len().alias("n"), *(pl.col(name).median() for name in columns)
    )
    return {(row["cell"], row["contender"]): row for row in table.iter_rows(named=True)}


def pages_frame(results: StudyResults, analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Medians of finished loads, a row per experiment, cell and contender; empty without pages."""
    rows = []
    for analysis in analyses:
        medians = _medians(results, analysis)
        rows += [
            {
                "experiment": analysis.experiment.name,
                "cell": cell.name,
                "title": cell.title,
                "contender": name,
                "n": medians[cell.name, name]["n"],
                **{column: medians[cell.name, name][column] for column in (*_HEADINGS, *_COUNTS)},
            }
            for cell in analysis.cells
            for name in analysis.contenders
            if (cell.name, name) in medians
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


KIND = TableKind(
    place=10,
    section=Section.PAGES,
    caption="Medians of all metrics, in seconds",
    remark=(
        "From the start of the navigation. FCP and LCP: first and largest contentful paint. DCL and onLoad: "
        "DOMContentLoaded and the load event are fired. PLT: all that was requested before the load event has come. "
        "Speed Index: area above the curve of visual completeness. VC: visually complete to 85, 95 and 99 %. Byte "
        "Index: area above the curve of bytes received. page-metrics.csv has objects, bytes and connections, too."
    ),
    table=lambda matter: pages_table(matter.results, matter.first),
    file=FILE,
    frame=lambda matter: pages_frame(matter.results, matter.firsts),
)
