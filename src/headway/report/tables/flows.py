"""Flows that competed: what those of each name got, beside which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.columns import Status
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

FILE = "flows.csv"
_GROUP = ("cell", "contender", "named")
_COLUMNS: Mapping[str, tuple[str, int]] = {
    "common_mbit": ("goodput [Mbit/s]", 3),
    "share": ("share", 2),
    "fair_share": ("of its fair rate", 2),
    "harm": ("harm", 2),
    "srtt_p50_ms": ("RTT [ms]", 3),
    "srtt_p95_ms": ("RTT, 95 % [ms]", 3),
    "retransmits_per_mb": ("sent again per MB", 2),
    "completion_p50_s": ("transfers take [s]", 3),
    "completion_p95_s": ("transfers take, 95 % [s]", 3),
    "total_s": ("its time [s]", 3),
}
"""Medians over runs, of the mean over the flows of a name in each: heading and digits."""


def flows_table(results: StudyResults, analysis: Analysis) -> Table:
    """Medians of what the flows of each name got; no rows if none competed."""
    cells = shown_cells(analysis, len(analysis.contenders))
    values = _medians(results, analysis)
    there = [name for name in _COLUMNS if any(row[name] is not None for row in values)]
    rows = tuple(
        tuple(
            (*levels(analysis, cell), *_row(row, there))
            for row in values
            if row["cell"] == cell.name
        )
        for cell in cells
    )
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "flow",
            "flows",
            "runs",
            *(_COLUMNS[name][0] for name in there),
        ),
        rows=rows if values else (),
        labels=len(analysis.conditions.factors) + 2,
        remark=left_out(analysis, cells, FILE),
    )


def _row(row: Mapping[str, Any], there: Sequence[str]) -> tuple[str, ...]:
    return (
        row["contender"],
        row["named"],
        str(row["flows_each"]),
        str(row["n"]),
        *(number(row[name], _COLUMNS[name][1]) for name in there),
    )


def flows_frame(results: StudyResults, analyses: Sequence[Analysis]) -> pl.DataFrame:
    """The same of every experiment, a row for each cell, contender and name of a flow."""
    rows = [
        {"experiment": analysis.experiment.name, **row}
        for analysis in analyses
        for row in _medians(results, analysis)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _medians(results: StudyResults, analysis: Analysis) -> list[dict[str, Any]]:
    flows = results.flows_of(analysis.experiment)
    if flows is None:
        return []
    places = {name: place for place, name in enumerate(analysis.contenders)}
    medians = (
        flows.filter(pl.col("status") == Status.OK.value)
        .with_columns(
            (pl.col("retransmits") / (pl.col("bytes") / 1e6)).alias("retransmits_per_mb"),
            pl.lit(None, dtype=pl.Float64).alias("harm"),
        )
        .group_by(*_GROUP, "rep", maintain_order=True)
        .agg(pl.len().alias("flows_each"), *(pl.col(name).mean() for name in _COLUMNS))
        .group_by(*_GROUP, maintain_order=True)
        .agg(
            pl.col("flows_each").first(),
            pl.len().alias("n"),
            *(pl.col(name).median() for name in _COLUMNS),
        )
    )
    rows = sorted(medians.to_dicts(), key=lambda row: places[row["contender"]])
    return [row | {"harm": _harm(row, rows)} for row in rows]


def _harm(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The part of its goodput alone that others take from a flow (Ware et al. 2019, section 4).

    Alone it is where a contender of the same cell has this flow only.
    """
    beside = [other for other in rows if other["cell"] == row["cell"]]
    for other in beside:
        company = [first for first in beside if first["contender"] == other["contender"]]
        alone = len(company) == 1 and other["flows_each"] == 1
        if alone and other["named"] == row["named"] and other is not row:
            solo, mbit = other["common_mbit"], row["common_mbit"]
            return 1 - mbit / solo if solo and mbit is not None else None
    return None


KIND = TableKind(
    place=10,
    section=Section.FLOWS,
    caption="What each flow met",
    remark=(
        "Medians over runs, of the mean of the flows of a name in each, while all flows were there. Of its fair rate: "
        "over its max-min fair goodput. Harm: the part of what it gets alone that the others take (Ware et al. 2019), "
        "where a contender is that flow alone. Its time: from its start to its last byte."
    ),
    table=lambda matter: flows_table(matter.results, matter.first),
    file=FILE,
    frame=lambda matter: flows_frame(matter.results, matter.firsts),
    looks="",
    most=240,
)
