"""Failures: which runs did not end well, and why."""

from __future__ import annotations

import polars as pl

from headway.analysis import StudyResults
from headway.analysis.fault_runs import of_its_fault
from headway.columns import Status
from headway.errors import counted
from headway.report.reproducing import showing_packets
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import Table

FILE = "failures.csv"
_MOST_ROWS = 120
_KEYS = ("experiment", "cell", "contender", "status", "error")


def failures_frame(runs: pl.DataFrame) -> pl.DataFrame:
    """Failures by cell, contender and reason, with their number and seeds."""
    return (
        runs.filter(pl.col("status") != Status.OK.value)
        .with_columns(_reason().alias("error"))
        .group_by(_KEYS)
        .agg(
            pl.len().alias("runs"),
            pl.col("seed").unique().sort().cast(pl.String).str.join(", ").alias("seeds"),
        )
        .sort(_KEYS)
    )


def _reason() -> pl.Expr:
    """How far runs came, of a group those of the first, and what their clients say of that."""
    own = pl.col("error").fill_null("no reason recorded")
    first = pl.col("came_to").first().over("experiment", "cell", "contender", "status", "error")
    return pl.when(first.is_null()).then(own).otherwise(pl.format("{} ({})", first, own))


def failures_table(results: StudyResults, titles: dict[str, str]) -> Table:
    """The failures to be read, in the order of the cells, the same reasons together.

    Args:
        results: the runs.
        titles: of the cells, by name, in the order of the page.
    """
    places = {name: place for place, name in enumerate(titles)}
    values = sorted(failures_frame(results.runs).iter_rows(), key=lambda row: places[row[1]])
    several = len(results.experiments) > 1
    rows = tuple(
        ((*((experiment,) if several else ()), titles[cell] or cell, *rest, str(count), seeds),)
        for experiment, cell, *rest, count, seeds in values[:_MOST_ROWS]
    )
    left = f"The first {_MOST_ROWS} of {len(values)} rows; {FILE} has all."
    faulted = results.runs.filter(of_its_fault()).height
    of_faults = (
        f"{counted(faulted, 'run')} of these met a fault, as the study asks, and did not survive it: that is a result."
        if faulted
        else ""
    )
    return Table(
        headings=(
            *(("experiment",) if several else ()),
            *("cell", "contender", "ended", "reason", "runs", "seeds"),
        ),
        rows=rows,
        labels=5 if several else 4,
        remark=" ".join(filter(None, (left if len(values) > _MOST_ROWS else "", of_faults))),
    )


KIND = TableKind(
    place=10,
    section=Section.FAILURES,
    caption="Runs that did not end well",
    remark=lambda matter: showing_packets(matter.results),
    table=lambda matter: failures_table(matter.results, matter.titles),
    file=FILE,
    frame=lambda matter: failures_frame(matter.results.runs),
    looks="prose",
)
