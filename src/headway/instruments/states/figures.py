"""State machines of senders as diagrams: a column per contender in a cell, and how the second one differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from headway.analysis import Analysis, Cell
from headway.instruments.states.diagram import (
    Diagram,
    diagram,
    diagram_height,
    difference,
    draw_diagram,
    is_installed,
)
from headway.instruments.states.machines import recorded_machine
from headway.instruments.states.statemachine import StateMachine
from headway.instruments.states.tables import states_frame
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.most_telling import telling_cells
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import MUTED

_MOST_CELLS, _MOST_CONTENDERS = 2, 4
_HEAD, _TITLE, _GAP = 30.0, 26.0, 24.0
_MOST_STATES_SAID = 3


@dataclass(frozen=True)
class _Shown:
    """A diagram with its title, and the cell that it is of."""

    cell: str
    title: str
    diagram: Diagram
    said: str


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    shown = [
        diagram
        for cell in telling_cells(analysis, _MOST_CELLS)
        for diagram in _of_cell(analysis, cell)
    ]
    if not shown or not is_installed():
        return None
    return Picture(
        name=picture_name(analysis, "states"),
        title="States of the senders",
        caption=(
            "A box is a state of the sender in front of the narrowest link, with its share of the time (red). An arrow "
            "has the share of all leavings of its state that took it. The last diagram of a cell is a difference: blue "
            "is more, red is less, and grey arrows differ by no more than chance allows (their intervals of 95 % "
            "overlap). Of TCP, states are as sampled. states.csv has all."
        ),
        drawing=partial(_sheet, shown),
        data=lambda: states_frame([analysis]),
        said=told(
            f"{diagram.cell} {diagram.title}: {diagram.said}" for diagram in shown if diagram.said
        ),
    )


KIND = Kind(place=51, section=Section.WHY, draw=_draw, every_metric=False)


def _of_cell(analysis: Analysis, cell: Cell) -> list[_Shown]:
    machines: dict[str, StateMachine] = {}
    for contender in analysis.contenders:
        here = (pl.col("cell") == cell.name) & (pl.col("contender") == contender)
        machine = recorded_machine(analysis.runs.filter(here))
        if machine is not None and machine.counts:
            machines[contender] = machine
    names = list(machines)[:_MOST_CONTENDERS]
    shown_rows = [
        _Shown(cell.title, name, diagram(machines[name]), _said(machines[name])) for name in names
    ]
    if len(names) > 1:
        first, second = names[:2]
        changed = difference(machines[first], machines[second])
        shown_rows.append(_Shown(cell.title, f"{second} against {first}", changed, ""))
    return shown_rows


def _said(machine: StateMachine) -> str:
    return ", ".join(
        f"{state.state} {state.share:.0%}" for state in machine.states[:_MOST_STATES_SAID]
    )


def _sheet(shown: Sequence[_Shown], width: float) -> Sheet:
    columns = 1 if is_narrow(width) else min(3, len(shown))
    pitch = (width + _GAP) / columns
    room = pitch - _GAP
    rows = [shown[n : n + columns] for n in range(0, len(shown), columns)]
    heights = [max(diagram_height(diagram.diagram, room) for diagram in row) for row in rows]
    sheet = Sheet(width, math.fsum(heights) + len(rows) * (_HEAD + _TITLE))
    top = 0.0
    for row, height in zip(rows, heights, strict=True):
        for place, state in enumerate(row):
            left = place * pitch
            sheet.label(left, top + 10, state.title, room, size=14, bold=True)
            sheet.label(left, top + 28, state.cell, room, MUTED)
            draw_diagram(sheet, state.diagram, left, top + _HEAD + 10, room)
        top += height + _HEAD + _TITLE
    return sheet
