"""Panels of rows: a panel per cell, a row per contender, values from left to right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headway.analysis import Analysis, Cell
from headway.report.layout import Grid, arranged, wrapped
from headway.report.scale import Scale
from headway.report.sheet import Sheet, text_width
from headway.report.theme import MUTED, RULE

ROW = 25.0
_GAP = 24.0
_TITLE = 20.0
_AXIS = 24.0
_BAND = 28.0
_BELOW = 10.0
_NAME = 16.0
"""Height of the name of the axes."""
_LEAST_PLOT = 150.0
"""Narrowest space for values in a panel."""
_MOST_COLUMNS = 4
_MOST_ROWS = 84
"""Rows in all panels together: more make a figure that nobody reads."""


@dataclass(frozen=True)
class Panel:
    """Where a cell's values stand: its rows in pixels, without names and title."""

    cell: Cell
    title: str
    left: float
    top: float
    width: float
    height: float

    def y(self, row: float) -> float:
        """The middle of a row."""
        return self.top + (row + 0.5) * ROW

    def scale(self, high: float) -> Scale:
        """A scale from zero over the panel's width."""
        return Scale(0.0, high, self.left, self.left + self.width)


def most_panels(analysis: Analysis) -> int:
    """How many cells a figure shows; a multiple of three where it does not show all."""
    most = max(3, _MOST_ROWS // len(analysis.contenders))
    return most if len(analysis.cells) <= most else most - most % 3


def draw_panels(
    analysis: Analysis,
    cells: Sequence[Cell],
    width: float,
    draw: Callable[[Sheet, Panel], None],
    axis: str,
    head: float = 0.0,
) -> Sheet:
    """A sheet with a panel for each cell, their names, and what ``draw`` puts into them.

    Args:
        analysis: the study.
        cells: its cells that are shown.
        width: of the sheet.
        draw: fills a panel.
        axis: what all panels have across.
        head: room to leave at the top.
    """
    names = max(text_width(name) for name in analysis.contenders) + 12
    names = min(names, 0.45 * width)
    grid = _arranged(analysis, cells, names, width)
    height = ROW * len(analysis.contenders)
    band = _BAND if any(grid.rows) else 0.0
    pitch = band + _TITLE + height + _AXIS + _BELOW
    across = (width + _GAP) / max(len(grid.columns), 2 if width > 500 else 1)
    sheet = Sheet(width, head + pitch * len(grid.rows) + _NAME)
    sheet.label(names, sheet.height - _NAME / 2, axis, width - names, MUTED, size=11)
    for row, label in enumerate(grid.rows):
        sheet.label(0, head + row * pitch + 13, label, width, size=14, bold=True)
    for row, column, cell in grid.places:
        title = ", ".join(grid.columns[column]) if any(grid.rows) else cell.title
        left, top = column * across + names, head + row * pitch + band + _TITLE
        panel = Panel(cell, title, left, top, across - _GAP - names, height)
        _frame(sheet, analysis, panel, names)
        draw(sheet, panel)
    return sheet


def _frame(sheet: Sheet, analysis: Analysis, panel: Panel, names: float) -> None:
    sheet.label(panel.left, panel.top - _TITLE + 8, panel.title, panel.width + _GAP, MUTED)
    for row, name in enumerate(analysis.contenders):
        sheet.label(panel.left - 6, panel.y(row), name, names - 10, anchor="end")


def _arranged(analysis: Analysis, cells: Sequence[Cell], names: float, width: float) -> Grid:
    """Factors crossed where that fills the width, else cells as text flows."""
    most = max(1, min(_MOST_COLUMNS, int((width + _GAP) / (names + _LEAST_PLOT + _GAP))))
    count = len(analysis.conditions.factors)
    for split in range(1, count):
        grid = arranged(analysis, cells, range(split), range(split, count))
        full = len(grid.places) >= 0.9 * len(grid.rows) * len(grid.columns)
        plot = (width + _GAP) / len(grid.columns) - _GAP - names
        widest = max(text_width(", ".join(titles)) for titles in grid.columns)
        if 2 <= len(grid.columns) <= most and len(grid.rows) > 1 and full and widest < plot + 20:
            return grid
    widest = max((text_width(cell.title) for cell in cells), default=0.0)
    fitting = int((width + _GAP) / max(1.0, min(widest, width) + names + _GAP))
    return wrapped(cells, max(1, min(most, fitting)))


def value_axis(
    sheet: Sheet, panel: Panel, scale: Scale, texts: Callable[[Sequence[float]], Sequence[str]]
) -> None:
    """Zero and a few round values, as lines and below them as text."""
    bottom = panel.top + panel.height
    ticks = [value for value in scale.ticks(5) if value <= 0.95 * scale.high]
    for value, text in zip(ticks, texts(ticks), strict=True):
        x = scale(value)
        sheet.line((x, panel.top), (x, bottom), colour=RULE if value else MUTED)
        sheet.text(x, bottom + 11, text, MUTED, size=11, anchor="middle")


def fitting_limit(panel: Panel, reaches: Mapping[str, float], labels: Mapping[str, str]) -> float:
    """An upper end of the axis that leaves room for every row's label after what is drawn."""
    needed = [
        reach * panel.width / (panel.width - min(text_width(labels[name]) + 14, 0.72 * panel.width))
        for name, reach in reaches.items()
    ]
    return max(needed, default=0.0) or 1.0
