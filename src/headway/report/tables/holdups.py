"""The table of limits: for how many seconds each held the runs back, and what for the longest time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis, ContenderRuns
from headway.analysis.cells import HOLDUPS
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

FILE = "limits.csv"


def holdups_table(analysis: Analysis) -> Table:
    """Mean seconds by cause, for every contender in every cell; no rows if nothing is known."""
    cells = shown_cells(analysis, len(analysis.contenders))
    known = any(side.limited_by or side.holdups for cell in cells for side in cell.sides)
    there = [name for name in HOLDUPS if _occurs(analysis, name)]
    pages = _have_pages(analysis)
    rows = tuple(
        tuple((*levels(analysis, cell), *_row(side, there, pages)) for side in cell.sides)
        for cell in cells
    )
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "most of the time, by runs",
            *(("main connection",) if pages else ()),
            "known from",
            *(f"{name} [s]" for name in there),
        ),
        rows=rows if known else (),
        labels=len(analysis.conditions.factors) + 3 + pages,
        remark=left_out(analysis, cells, FILE),
    )


def _have_pages(analysis: Analysis) -> bool:
    """Whether the runs loaded pages, of which one connection is the main one."""
    return any(side.main_limited_by for cell in analysis.cells for side in cell.sides)


def _occurs(analysis: Analysis, name: str) -> bool:
    return any(dict(side.holdups).get(name) for cell in analysis.cells for side in cell.sides)


def _row(side: ContenderRuns, there: Sequence[str], pages: bool) -> tuple[str, ...]:
    seconds = dict(side.holdups)
    return (
        side.contender,
        _most(side.limited_by),
        *((_most(side.main_limited_by),) if pages else ()),
        "; ".join(side.known_from) or NONE,
        *(_seconds(seconds.get(name)) for name in there),
    )


def _seconds(value: float | None) -> str:
    """A number of seconds; what is less than a millisecond is not told."""
    return "< 0.001" if value and value < 1e-3 else number(value, 3)


def _most(limited_by: Sequence[tuple[str, int]]) -> str:
    """What limited the runs most of their time, with counts where they differ."""
    if not limited_by:
        return NONE
    if len(limited_by) == 1:
        return limited_by[0][0]
    return ", ".join(f"{name} {count}" for name, count in limited_by)


def holdups_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """Mean seconds by cause, a row per experiment, cell and contender."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "limited_by": _listed(side.limited_by),
            "main_limited_by": _listed(side.main_limited_by),
            "limits_source": "; ".join(side.known_from),
            "retransmits_median": side.retransmits,
            **{column: dict(side.holdups).get(name) for name, column in HOLDUPS.items()},
        }
        for analysis in analyses
        for cell in analysis.cells
        for side in cell.sides
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _listed(limited_by: Sequence[tuple[str, int]]) -> str:
    return "; ".join(f"{name}: {count}" for name, count in limited_by)


def _remark(matter: Matter) -> str:
    text = (
        "Handshake: everything before the first byte. Outage: the path was down. Path: its rate. Growth: slow start. Congestion window: too small "
        "for the path. Recovery: repairing losses; idle recovery: waiting for a time-out to do so. Receive window and "
        "send buffer: the hosts'. Application: nothing to send. Plateau: a constant rate below the path's, unexplained."
    )
    of_pages = (
        "Of a page, handshake is everything before the first byte of the document, and application the time in which "
        "no connection had anything to send: requests or further handshakes were on the way, or the browser had not "
        "asked yet. The main connection is the document's."
    )
    return f"{text} {of_pages}" if _have_pages(matter.first) else text


KIND = TableKind(
    place=10,
    section=Section.WHY,
    caption="What limited the transfers",
    remark=_remark,
    table=lambda matter: holdups_table(matter.first),
    file=FILE,
    frame=lambda matter: holdups_frame(matter.firsts),
)
