"""Tables of the sender's states that took the time that the slower contender lost; seconds in each state as a file."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from headway.analysis import Analysis
from headway.instruments.states.losttime import LostTime, lost_times
from headway.instruments.states.machines import recorded_machine
from headway.report.section import Section
from headway.report.tables.kind import Matter, TableKind
from headway.report.tables.table import (
    Table,
    left_out,
    level_headings,
    levels,
    number,
    shown_cells,
)

FILE = "states.csv"
_MOST_OTHERS = 3
_TOLD_S = 1e-3


def _table(matter: Matter) -> Table:
    analysis = matter.first
    cells = shown_cells(analysis, max(1, len(analysis.pairings)))
    times: dict[str, list[LostTime]] = {}
    for lost in lost_times(analysis):
        times.setdefault(lost.cell.name, []).append(lost)
    rows = tuple(
        tuple((*levels(analysis, cell), *_row(lost)) for lost in times.get(cell.name, ()))
        for cell in cells
    )
    headings = ("slower", "than", "by [s]", "most of it in", "of it [s]", "other states [s]")
    return Table(
        headings=(*level_headings(analysis), *headings),
        rows=tuple(group for group in rows if group),
        labels=len(analysis.conditions.factors) + 2,
        remark=left_out(analysis, cells, FILE),
    )


def _row(lost: LostTime) -> tuple[str, ...]:
    state, seconds = lost.differences[0]
    others = [difference for difference in lost.differences[1:] if abs(difference[1]) >= _TOLD_S]
    others.sort(key=lambda pair: -abs(pair[1]))
    text = ", ".join(f"{name} {_signed(more)}" for name, more in others[:_MOST_OTHERS])
    return lost.slower, lost.faster, number(lost.longer_s, 3), state, _signed(seconds), text


def _signed(seconds: float) -> str:
    return f"{'+' if seconds >= 0 else '−'}{number(abs(seconds), 3)}"


def states_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """A row for each transition of every contender in every cell, and one for each state's time."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "cell": cell.name,
            "title": cell.title,
            "contender": side.contender,
            "state": state,
            "to": to,
            "seconds": seconds,
            "share": share,
            "count": count,
            "low": low,
            "high": high,
        }
        for analysis in analyses
        for cell in analysis.cells
        for side in cell.sides
        for state, to, seconds, share, count, low, high in _told(
            analysis, cell.name, side.contender
        )
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


_Archived = tuple[str, str | None, float | None, float, int | None, float | None, float | None]


def _told(analysis: Analysis, cell: str, contender: str) -> list[_Archived]:
    here = (pl.col("cell") == cell) & (pl.col("contender") == contender)
    machine = recorded_machine(analysis.runs.filter(here))
    if machine is None:
        return []
    states: list[_Archived] = [
        (state.state, None, state.seconds, state.share, None, None, None)
        for state in machine.states
    ]
    steps: list[_Archived] = [
        (
            transition.before,
            transition.after,
            None,
            transition.probability,
            transition.count,
            transition.interval.low,
            transition.interval.high,
        )
        for transition in machine.transitions
    ]
    return states + steps


KIND = TableKind(
    place=15,
    section=Section.WHY,
    caption="In which state of the sender the slower contender lost its time",
    remark="The slower contender has the larger mean time to the last byte. Beside it are means over runs of the seconds "
    "that the sender in front of the narrowest link was in each state, of several connections their mean. Pairs are left "
    "out whose sums of these differ the other way. `headway states` has transitions and invariants. Of TCP, states are "
    "as sampled.",
    table=_table,
    file=FILE,
    looks="prose",
    frame=lambda matter: states_frame(matter.firsts),
)
