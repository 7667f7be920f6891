"""Disturbances: what paths name, and how many packets met it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from headway.analysis import StudyResults
from headway.analysis.disturbances import Unmet
from headway.analysis.numbers import significant
from headway.diagnosis.disturbances import Named
from headway.errors import counted
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import Table

FILE = "disturbances.csv"
_MOST_TOLD = 4
_MOST_ROWS = 240


def disturbances_warning(unmet_disturbances: Sequence[Unmet]) -> str:
    """What a reader must know before anything else: that paths did not do what they name."""
    if not unmet_disturbances:
        return ""
    text = " ".join(str(unmet) for unmet in unmet_disturbances[:_MOST_TOLD])
    rest = len(unmet_disturbances) - _MOST_TOLD
    more = f" And {counted(rest, 'more')}: see Disturbances." if rest > 0 else ""
    return f"Disturbances that did not take place. {text[:1].upper()}{text[1:]}{more}"


def disturbances_frame(results: StudyResults) -> pl.DataFrame:
    """For what is named for each contender in each cell: in how many runs how many packets met it."""
    counting = results.runs.filter(
        pl.col("lost_down").is_not_null() & pl.col("disturbances").list.len().gt(0)
    )
    rows = []
    for row in counting.iter_rows(named=True):
        for text in row["disturbances"]:
            named = Named.parse(text)
            packets = row[named.column]
            rows.append(
                {
                    **{key: row[key] for key in ("experiment", "cell", "contender")},
                    **{"disturbance": f"{named.kind}", "towards": _TOWARDS[named.way]},
                    **{"value": named.value, "packets": packets},
                }
            )
    if not rows:
        return pl.DataFrame()
    keys = ("experiment", "cell", "contender", "disturbance", "towards", "value")
    return (
        pl.DataFrame(rows)
        .group_by(keys, maintain_order=True)
        .agg(
            pl.len().alias("runs"),
            pl.col("packets").gt(0).sum().alias("runs_that_met_it"),
            pl.col("packets").mean().alias("packets_per_run"),
        )
        .sort("experiment", "cell", "contender", maintain_order=True)
    )


_TOWARDS = {"down": "client", "up": "server"}


def disturbances_table(frame: pl.DataFrame, titles: Mapping[str, str]) -> Table:
    """The same to be read, what no packet met first.

    Args:
        frame: of `disturbances_frame`.
        titles: of the cells, by name, in the order of the page.
    """
    places = {name: place for place, name in enumerate(titles)}
    values = sorted(frame.iter_rows(), key=lambda row: (row[-1] > 0, row[0], places[row[1]]))
    several = len({row[0] for row in values}) > 1
    left = f"{_MOST_ROWS} of {len(values)} rows, those that no packet met first; {FILE} has all."
    return Table(
        headings=(
            *(("experiment",) if several else ()),
            *("cell", "contender", "disturbance", "towards", "value"),
            *("runs", "that met it", "packets per run"),
        ),
        rows=tuple(
            (
                (
                    *((experiment,) if several else ()),
                    titles[cell] or "all",
                    *named,
                    str(runs),
                    str(met),
                    significant(packets),
                ),
            )
            for experiment, cell, *named, runs, met, packets in values[:_MOST_ROWS]
        ),
        labels=6 if several else 5,
        remark=left if len(values) > _MOST_ROWS else "",
    )


KIND = TableKind(
    place=10,
    section=Section.DISTURBANCES,
    caption="Disturbances, by cell and contender",
    remark=(
        "Packets are reordered if they leave a link after one that came to it later; jitter keeps their order unless "
        "the path has `jitter_reorders`."
    ),
    table=lambda matter: disturbances_table(disturbances_frame(matter.results), matter.titles),
    said=lambda _: (
        "The disturbances that the paths name, and whether any packet met them. The links themselves count, from the "
        "making of the path to the end of the run.",
    ),
    file=FILE,
    frame=lambda matter: disturbances_frame(matter.results),
)
