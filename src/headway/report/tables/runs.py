"""The runs themselves, for programs that read no Parquet."""

from __future__ import annotations

import polars as pl

from headway.report.section import Section
from headway.report.tables.kind import TableKind

FILE = "runs.csv"


def runs_frame(runs: pl.DataFrame) -> pl.DataFrame:
    """A row for each run, with the columns that any run has; lists as values with spaces between."""
    texts = [name for name in runs.columns if runs[name].null_count() < runs.height]
    lists = [name for name in texts if isinstance(runs.schema[name], pl.List)]
    return (
        runs.sort("run_id", "seed")
        .select(texts)
        .with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
    )


KIND = TableKind(
    place=10,
    section=Section.FILES,
    caption="Every run",
    file=FILE,
    frame=lambda matter: runs_frame(matter.results.runs),
)
