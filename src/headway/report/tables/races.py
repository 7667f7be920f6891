"""Races: how often QUIC lost to TCP and IPv6 to IPv4, and what the client waited until it fell back."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis.numbers import percent
from headway.columns import Status
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
from headway.study.family import Family

FILE = "races.csv"
_COUNTS = ("quic_tries", "quic_tries_lost")


def races_frame(matter: Matter) -> pl.DataFrame:
    """For every contender in every cell of all experiments, its runs that ended well and raced."""
    runs = matter.results.runs.filter(pl.col("status") == Status.OK.value)
    raced = runs.filter(pl.col("quic_tries").gt(0) | pl.col("family_won").is_not_null())
    fell_back = pl.col("quic_wait_s").filter(pl.col("quic_wait_s") > 0)
    return raced.group_by("experiment", "cell", "contender", maintain_order=True).agg(
        pl.len().alias("runs"),
        *(pl.col(name).sum() for name in _COUNTS),
        pl.col("quic_wait_s").gt(0).sum().alias("runs_that_waited_for_quic"),
        fell_back.median().alias("quic_wait_s"),
        *(
            (pl.col("family_won") == family.value).sum().alias(f"over_{family.value}")
            for family in Family
        ),
        pl.col("fallback_s").filter(pl.col("fallback_s") > 0).median(),
    )


def races_table(matter: Matter) -> Table:
    """The same of one experiment, to be read."""
    analysis = matter.first
    frame = races_frame(matter)
    by_side = {
        (row["cell"], row["contender"]): row
        for row in frame.iter_rows(named=True)
        if row["experiment"] == analysis.experiment.name
    }
    values = list(by_side.values())
    quic = any(row["quic_tries"] for row in values)
    families = any(row["over_ipv4"] or row["over_ipv6"] for row in values)
    cells = shown_cells(analysis, len(analysis.contenders))
    rows = [
        tuple(
            (*levels(analysis, cell), side.contender, *_row(row, quic=quic, families=families))
            for side in cell.sides
            if (row := by_side.get((cell.name, side.contender)))
        )
        for cell in cells
    ]
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "runs",
            *(_OF_QUIC if quic else ()),
            *(_OF_FAMILIES if families else ()),
        ),
        rows=tuple(row for row in rows if row),
        labels=len(analysis.conditions.factors) + 1,
        remark=left_out(analysis, cells, FILE),
    )


_OF_QUIC = ("QUIC tried beside TCP", "lost to TCP", "runs that waited for QUIC", "wait [s]")
_OF_FAMILIES = ("over IPv6", "over IPv4", "wait for the other family [s]")


def _row(row: dict[str, int | float | None], *, quic: bool, families: bool) -> Sequence[str]:
    texts = [str(row["runs"])]
    if quic:
        tries, lost = row["quic_tries"] or 0, row["quic_tries_lost"] or 0
        texts += [
            str(tries),
            percent(lost / tries) if tries else NONE,
            str(row["runs_that_waited_for_quic"]),
            number(row["quic_wait_s"], 3),
        ]
    if families:
        texts += [str(row["over_ipv6"]), str(row["over_ipv4"]), number(row["fallback_s"], 3)]
    return texts


KIND = TableKind(
    place=30,
    section=Section.WHY,
    caption="Races, and what falling back cost",
    remark=(
        "Requests of all runs that ended well for which the client began QUIC beside TCP, and the share that TCP carried. A run "
        "waited for QUIC if TCP began only after a while and then carried its first response; the wait is the median over "
        "these runs, as that for the other family is over the runs that fell back."
    ),
    table=races_table,
    file=FILE,
    frame=races_frame,
)
