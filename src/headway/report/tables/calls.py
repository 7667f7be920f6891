"""Calls: how long their datagrams took and how many never came, flow by flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.numbers import significant
from headway.analysis.sample import summarise
from headway.columns import Status
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import (
    NONE,
    Table,
    interval_text,
    left_out,
    level_headings,
    levels,
    shown_cells,
)

FILE = "calls.csv"
_COLUMNS = {
    "datagrams_lost_pct": "lost [%]",
    "delay_p50_ms": "delay, 50 % [ms]",
    "delay_p95_ms": "delay, 95 % [ms]",
    "delay_p99_ms": "delay, 99 % [ms]",
    "jitter_at_end_ms": "jitter [ms]",
}


def calls_table(results: StudyResults, analysis: Analysis) -> Table:
    """Medians over runs of what each call met, with intervals; no rows without calls."""
    rows = [*_calls(results, analysis)]
    cells = shown_cells(analysis, len(analysis.contenders))
    titles = {cell.name: cell for cell in cells}
    return Table(
        headings=(
            *level_headings(analysis),
            *("contender", "flow", "runs"),
            *(text for heading in _COLUMNS.values() for text in (heading, "interval")),
        ),
        rows=tuple(
            tuple(
                (*levels(analysis, cell), *_texts(row)) for row in rows if row["cell"] == cell.name
            )
            for cell in titles.values()
        )
        if rows
        else (),
        labels=len(analysis.conditions.factors) + 2,
        remark=left_out(analysis, cells, FILE) if rows else "",
    )


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    yield from (row["contender"], row["flow"] or NONE, str(row["runs"]))
    for name in _COLUMNS:
        sample = summarise(row[name])
        yield significant(sample.median) if sample else NONE
        yield interval_text(sample.interval, 3, 1.0) if sample else NONE


def calls_frame(results: StudyResults, analyses: Sequence[Analysis]) -> pl.DataFrame:
    """The same of every experiment, with the ends of the intervals."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            **{key: row[key] for key in ("cell", "contender", "flow", "runs")},
            **{key: value for name in _COLUMNS for key, value in _numbers(name, row[name]).items()},
        }
        for analysis in analyses
        for row in _calls(results, analysis)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _numbers(name: str, values: Sequence[float]) -> dict[str, float | None]:
    sample = summarise(values)
    interval = sample.interval if sample else None
    return {
        name: sample.median if sample else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _calls(results: StudyResults, analysis: Analysis) -> Iterator[dict[str, Any]]:
    """The values of each call in all runs that ended well, by cell, contender and flow."""
    flows = results.flows_of(analysis.experiment)
    calls = analysis.runs.with_columns(flow=pl.lit("")) if flows is None else flows
    ended = calls.filter(
        (pl.col("status") == Status.OK.value) & pl.col("datagrams_lost_pct").is_not_null()
    )
    values = ended.group_by("cell", "contender", "flow", maintain_order=True).agg(
        pl.len().alias("runs"), *(pl.col(name).drop_nulls() for name in _COLUMNS)
    )
    places = {name: place for place, name in enumerate(analysis.contenders)}
    yield from sorted(values.to_dicts(), key=lambda row: places[row["contender"]])


KIND = TableKind(
    place=5,
    section=Section.RESULTS,
    caption="What each call met",
    remark=(
        "Medians over runs, with their intervals. Delay: one-way, of the datagrams that came, from sending to "
        "receiving; so many percent of them took no longer. Lost: datagrams that never came."
    ),
    table=lambda matter: calls_table(matter.results, matter.first),
    file=FILE,
    frame=lambda matter: calls_frame(matter.results, matter.firsts),
    looks="",
)
