"""The figure of all runs: a panel per cell, a row per contender, a dot per run."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headway.analysis import Analysis, Cell, Side
from headway.analysis.numbers import plain, significant
from headway.report.drawing import blank, dots, drawing, line, sheet, write
from headway.report.layout import Grid, crossed, wrapped
from headway.report.theme import INK, MUTED, RULE, Style, contender_styles

MOST_PANELS = 120
"""More cells than this are not drawn: the figure of differences and the tables show them."""

FAILED = "†"
"""Stands before the number of runs that failed."""

_ROW = 25
_GAP = 22
_TITLE = 20
_AXIS = 24
_BAND = 26
_BELOW = 8
_NOTHING = 1.0
"""End of the axis of a cell in which nothing was measured."""
_CHARACTER = 7.1
"""Width of a digit of the labels, for making room for them."""


@dataclass(frozen=True)
class _Panel:
    """Where a panel stands, in pixels, and the value at its right end."""

    left: float
    top: float
    width: float
    height: float
    limit: float

    def x(self, value: float) -> float:
        return self.left + value / self.limit * self.width

    def y(self, row: float) -> float:
        return self.top + (row + 0.5) * _ROW


def runs_figure(analysis: Analysis, width: float, columns: int) -> Figure:
    """Small multiples of the metric by contender: every run, median and its interval.

    Every panel has its own axis from zero, so that lengths within it compare as the values do.

    Args:
        analysis: the study.
        width: width of the figure in pixels.
        columns: most panels side by side.
    """
    grid = _arranged(analysis, width, columns)
    height = _ROW * len(analysis.contenders)
    names = max(map(len, analysis.contenders)) * _CHARACTER + 10
    band = _BAND if any(grid.rows) else 0
    pitch = band + _TITLE + height + _AXIS + _BELOW
    across = (width + _GAP) / max(len(grid.columns), 2 if columns > 2 else 1)
    with drawing():
        figure = blank(width, max(1, pitch * len(grid.rows)))
        axes = sheet(figure)
        for row, label in enumerate(grid.rows):
            write(axes, 0, row * pitch + 11, label, weight="bold", pixels=14)
        for row, column, cell in grid.places:
            left, top = column * across + names, row * pitch + band
            title = ", ".join(grid.columns[column]) if any(grid.rows) else cell.title
            write(axes, left, top + 8, title, color=MUTED.light)
            place = (left, top + _TITLE, across - _GAP - names, height)
            _draw(axes, analysis, cell, place)
    return figure


def _arranged(analysis: Analysis, width: float, columns: int) -> Grid:
    """Crossed where that fills the width, else wrapped; with titles that do not collide."""
    grid = crossed(analysis, columns)
    all_drawn = len(analysis.cells) <= MOST_PANELS
    fits = _fitting(width, [", ".join(titles) for titles in grid.columns]) >= len(grid.columns)
    if all_drawn and fits and len(grid.columns) >= 2 and len(grid.rows) > 1:
        return grid
    cells = analysis.cells[:MOST_PANELS]
    return wrapped(cells, min(columns, _fitting(width, [cell.title for cell in cells])))


def _fitting(width: float, titles: list[str]) -> int:
    """How many panels with these titles stand side by side."""
    widest = max(map(len, titles), default=0) * _CHARACTER + 30
    return max(1, int(width / widest))


def _draw(
    axes: Axes, analysis: Analysis, cell: Cell, place: tuple[float, float, float, float]
) -> None:
    labels = _labels(analysis, cell)
    panel = _Panel(*place, _limit(cell, labels, place[2]))
    _draw_axis(axes, analysis, panel)
    styles = contender_styles(analysis.contenders)
    for row, contender in enumerate(analysis.contenders):
        write(axes, panel.left - 6, panel.y(row), contender, ha="right")
        side = cell.side(contender)
        if side is None:
            continue
        _draw_side(axes, panel, side, row, styles[contender])
        write(
            axes,
            panel.x(_reach(side)) + 8,
            panel.y(row),
            labels[contender],
            weight="bold" if contender == cell.winner else "normal",
            color=INK.light if side.sample else MUTED.light,
        )


def _draw_axis(axes: Axes, analysis: Analysis, panel: _Panel) -> None:
    """Zero and a few round values, as lines and below them as text."""
    bottom = panel.top + panel.height
    factor, unit = analysis.metric.scale([panel.limit])
    for value in _ticks(panel):
        colour, x = (RULE if value else MUTED), panel.x(value)
        line(axes, (x, x), (panel.top, bottom), colour, 1, order=0)
        text = f"{plain(value * factor)} {unit}" if value else "0"
        write(axes, x, bottom + 11, text, ha="center", pixels=11, color=MUTED.light)


def _ticks(panel: _Panel) -> list[float]:
    """Round values from zero to short of the axis' end, where a label would stick out."""
    if panel.limit == _NOTHING:
        return [0.0]
    locator = MaxNLocator(nbins=3 if panel.width < 180 else 4, steps=[1, 2, 5, 10])
    found = locator.tick_values(0, panel.limit)
    return [float(value) for value in found if 0 <= value <= 0.94 * panel.limit]


def _draw_side(axes: Axes, panel: _Panel, side: Side, row: int, style: Style) -> None:
    sample = side.sample
    if sample is None:
        return
    y, median = panel.y(row), panel.x(sample.median)
    line(axes, (panel.left, median), (y, y), style.colour, 1, opacity=0.5)
    if sample.interval:
        ends = (panel.x(sample.interval.low), panel.x(sample.interval.high))
        line(axes, ends, (y, y), style.colour, 9, opacity=0.3)
    line(axes, (median, median), (panel.y(row - 0.42), panel.y(row + 0.42)), INK, 1.5)
    heights = [panel.y(row + offset) for offset in _offsets(len(side.observations))]
    dots(axes, [panel.x(run.value) for run in side.observations], heights, style)


def _offsets(count: int) -> list[float]:
    """Heights that keep equal values apart: runs in their order, spread over the row."""
    if count < 2:
        return [0.0] * count
    return [0.56 * (place / (count - 1) - 0.5) for place in range(count)]


def _labels(analysis: Analysis, cell: Cell) -> dict[str, str]:
    """Median and failures of each contender, in one unit."""
    factor, unit = analysis.metric.scale([side.sample.median for side in cell.sides if side.sample])
    labels = {}
    for side in cell.sides:
        parts = [f"{significant(side.sample.median * factor)} {unit}"] if side.sample else []
        if side.failures == side.runs:
            parts.append(f"all {side.runs} failed")
        elif side.failures:
            parts.append(f"{FAILED}{side.failures}")
        labels[side.contender] = " ".join(parts) or "not measured"
    return labels


def _reach(side: Side) -> float:
    """The rightmost thing drawn for a side."""
    return side.sample.high if side.sample else 0.0


def _limit(cell: Cell, labels: dict[str, str], width: float) -> float:
    """An upper end of the axis that leaves room for every label after its dots."""
    needed = [
        _reach(side) * width / (width - _label_width(labels[side.contender], width))
        for side in cell.sides
    ]
    return max(needed, default=0.0) or _NOTHING


def _label_width(label: str, width: float) -> float:
    return min(len(label) * _CHARACTER + 10, 0.72 * width)
