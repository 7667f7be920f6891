"""Stacked bars of what held the runs back: seconds by cause, a bar per contender, a panel per cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.analysis.metric import metric_named
from headway.analysis.numbers import significant
from headway.report.cellpanels import CellPanels
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import colour_legend, legend_height
from headway.report.panels import Panel, draw_panels, fitting_limit, value_axis
from headway.report.scale import tick_texts
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.tables.holdups import holdups_frame
from headway.report.theme import (
    BLUE,
    BROWN,
    CYAN,
    GREEN,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PINK,
    PURPLE,
    RED,
    YELLOW,
    Colour,
)

_BAR = 15.0
_VISIBLE = 0.005
"""Share of a bar from which on a cause can be seen, and is in the legend."""
_INFERRED = "inferred"
_SECONDS = metric_named("total_s")

COLOURS: dict[str, Colour] = {
    "handshake": GREY,
    "outage": INK,
    "path": BLUE,
    "processor": PINK,
    "growth": GREEN,
    "congestion window": YELLOW,
    "recovery": RED,
    "idle recovery": ORANGE,
    "receive window": PURPLE,
    "send buffer": LILAC,
    "application": CYAN,
    "plateau": BROWN,
}
"""Colours of everything that can hold a transfer back."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    panels = CellPanels.of(analysis, lambda side: side.holdups)
    if panels is None:
        return None
    cells = panels.cells
    text = (
        "Mean over the finished runs, from the start of the request, or of a page's navigation, to the "
        "last byte."
    )
    text += _evidence(
        [side.is_inferred for cell in cells for side in cell.sides if side.known_from]
    )
    return Picture(
        name=picture_name(analysis, "limits"),
        title="Seconds by what held the transfer back",
        caption=text + panels.left_out("cells"),
        drawing=partial(_sheet, analysis, cells),
        data=lambda: holdups_frame([analysis]),
        said=_said(cells),
    )


def _said(cells: Sequence[Cell]) -> str:
    return told(
        f"{cell.title}, {side.contender}{f' ({_INFERRED})' if side.is_inferred else ''}: "
        + ", ".join(
            f"{name} {significant(seconds)} s"
            for name, seconds in sorted(side.holdups, key=lambda holdup: -holdup[1])
            if seconds > _VISIBLE * _sum(side)
        )
        for cell in cells
        for side in cell.sides
        if side.holdups
    )


def _evidence(inferred: Sequence[bool]) -> str:
    """Where the causes are known from, given for every bar whether its are inferred."""
    if not inferred:
        return ""
    text = " stated by the senders' kernel or qlog."
    if not any(inferred):
        return f" All are{text}"
    counted = f" Hatched: {_INFERRED} from what the bottleneck carried and dropped."
    return counted if all(inferred) else f"{counted} Others are{text}"


KIND = Kind(place=50, section=Section.WHY, draw=_draw, every_metric=False)


def _sheet(analysis: Analysis, cells: Sequence[Cell], width: float) -> Sheet:
    there = {
        name
        for cell in cells
        for side in cell.sides
        for name, seconds in side.holdups
        if seconds > _VISIBLE * _sum(side)
    }
    colours = {name: colour for name, colour in COLOURS.items() if name in there}
    head = legend_height(tuple(colours), width) + 10
    axis = "time by what held the transfer back"
    sheet = draw_panels(analysis, cells, width, partial(_panel, analysis), axis, head)
    colour_legend(sheet, colours, 0, 0)
    return sheet


def _panel(analysis: Analysis, sheet: Sheet, panel: Panel) -> None:
    sums = {side.contender: _sum(side) for side in panel.cell.sides}
    texts = _SECONDS.texts(list(sums.values()))
    labels = {
        side.contender: _label(side, text) if sums[side.contender] else ""
        for side, text in zip(panel.cell.sides, texts, strict=True)
    }
    scale = panel.scale(fitting_limit(panel, sums, labels))
    value_axis(sheet, panel, scale, lambda ticks: tick_texts(_SECONDS, ticks))
    for row, contender in enumerate(analysis.contenders):
        side, start, y = panel.cell.side(contender), 0.0, panel.y(row)
        for name, seconds in side.holdups if side else ():
            left, right = scale(start), scale(start + seconds)
            if right - left >= 0.1:
                sheet.box(left, y - _BAR / 2, right - left, _BAR, fill=COLOURS[name])
            start += seconds
        if side and side.is_inferred:
            sheet.hatch(scale(0.0), y - _BAR / 2, scale(start) - scale(0.0), _BAR)
        sheet.text(scale(start) + 6, y, labels.get(contender, ""), INK)


def _label(side: ContenderRuns, seconds: str) -> str:
    return f"{seconds}, {_INFERRED}" if side.is_inferred else seconds


def _sum(side: ContenderRuns) -> float:
    return math.fsum(seconds for _, seconds in side.holdups)
