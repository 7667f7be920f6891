"""The figure of all runs: a panel per cell, a row per protocol, a dot per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from headway.analysis import Analysis, Cell, Side
from headway.analysis.metric import Metric
from headway.analysis.numbers import plain, significant
from headway.report.drawing import blank, drawing, panel, points, sheet, write
from headway.report.layout import Grid, crossed, wrapped
from headway.report.theme import INK, MUTED, RULE, Colour, protocol_colours

MOST_PANELS = 120
"""More cells than this are not drawn: the difference's figure and the tables show them."""

_ROW = 24
_NAME_WIDTH = 24
_GAP = 22
_TITLE = 20
_AXIS = 24
_BAND = 26
_CHARACTER = 7.1
"""Width of a digit of the labels, for making room for them."""


def runs_figure(analysis: Analysis, width: float, columns: int) -> Figure:
    """Small multiples of the metric by protocol: every run, median and its interval.

    Every panel has its own axis from zero, so that lengths within it compare as the values do.

    Args:
        analysis: the study.
        width: width of the figure in pixels.
        columns: most panels side by side.
    """
    grid = _arranged(analysis, columns)
    height_of_panel = _ROW * len(analysis.protocols) + 6
    band = _BAND if any(grid.rows) else 0
    pitch = band + _TITLE + height_of_panel + _AXIS + 8
    across = (width + _GAP) / max(len(grid.columns), min(columns, 2))
    with drawing():
        figure = blank(width, max(1, pitch * len(grid.rows)))
        page = sheet(figure)
        for row, label in enumerate(grid.rows):
            write(page, 0, row * pitch + 11, label, weight="bold", pixels=14)
        for row, column, cell in grid.places:
            left, top = column * across, row * pitch + band
            title = ", ".join(grid.columns[column]) if any(grid.rows) else cell.title
            write(page, left + _NAME_WIDTH, top + 8, title, color=MUTED.light)
            inner = across - _GAP - _NAME_WIDTH
            axes = panel(figure, left + _NAME_WIDTH, top + _TITLE, inner, height_of_panel)
            _draw(axes, analysis, cell, inner)
    return figure


def _arranged(analysis: Analysis, columns: int) -> Grid:
    """Crossed where that fills the width, else wrapped."""
    cells = analysis.cells[:MOST_PANELS]
    grid = crossed(analysis, columns)
    if len(cells) == len(analysis.cells) and len(grid.columns) >= 2 and len(grid.rows) > 1:
        return grid
    return wrapped(cells, columns)


def _draw(axes: Axes, analysis: Analysis, cell: Cell, width: float) -> None:
    labels = _labels(analysis, cell)
    limit = _limit(analysis, cell, labels, width)
    _prepare(axes, analysis, limit, width)
    colours = protocol_colours(analysis.protocols)
    for row, protocol in enumerate(analysis.protocols):
        side = cell.side(protocol)
        if side is None:
            continue
        _draw_side(axes, side, row, colours[protocol])
        write(
            axes,
            _reach(side) + limit * 8 / width,
            row,
            labels[protocol],
            weight="bold" if protocol == cell.winner else "normal",
            color=INK.light if side.sample else MUTED.light,
        )


def _prepare(axes: Axes, analysis: Analysis, limit: float, width: float) -> None:
    """Axis from zero with few ticks; names of the protocols for the other axis."""
    axes.set_xlim(0, limit)
    axes.set_ylim(len(analysis.protocols) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3 if width < 180 else 4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(_ticks(analysis.metric, limit))
    axes.set_yticks(range(len(analysis.protocols)), analysis.protocols)
    axes.tick_params(axis="x", length=0, pad=4, labelsize=points(11), labelcolor=MUTED.light)
    axes.tick_params(axis="y", length=0, pad=5, labelsize=points(12), labelcolor=INK.light)
    axes.grid(axis="x", color=RULE.light, linewidth=points(1))
    axes.set_axisbelow(True)
    for edge in ("top", "right", "bottom"):
        axes.spines[edge].set_visible(False)
    axes.spines["left"].set_color(MUTED.light)
    axes.spines["left"].set_linewidth(points(1))


def _ticks(metric: Metric, limit: float) -> FuncFormatter:
    factor, unit = metric.scale([limit])
    return FuncFormatter(lambda value, _: f"{plain(value * factor)} {unit}" if value else "0")


def _draw_side(axes: Axes, side: Side, row: int, colour: Colour) -> None:
    if side.sample is None:
        return
    style: dict[str, Any] = {"color": colour.light, "solid_capstyle": "butt"}
    axes.plot([0, side.sample.median], [row, row], linewidth=points(1), alpha=0.5, **style)
    if side.sample.interval:
        ends = [side.sample.interval.low, side.sample.interval.high]
        axes.plot(ends, [row, row], linewidth=points(9), alpha=0.3, **style)
    values = [run.value for run in side.observations]
    heights = [row + offset for offset in _offsets(len(values))]
    axes.scatter(values, heights, s=points(4.5) ** 2, color=colour.light, linewidths=0, zorder=3)
    median = [side.sample.median] * 2
    axes.plot(median, [row - 0.36, row + 0.36], linewidth=points(2.5), zorder=2, **style)


def _offsets(count: int) -> list[float]:
    """Heights that keep equal values apart: runs in their order, spread over the row."""
    if count < 2:
        return [0.0] * count
    return [0.56 * (place / (count - 1) - 0.5) for place in range(count)]


def _labels(analysis: Analysis, cell: Cell) -> dict[str, str]:
    """Median and failures of each protocol, in one unit."""
    medians = [side.sample.median for side in cell.sides if side.sample]
    factor, unit = analysis.metric.scale(medians)
    labels = {}
    for side in cell.sides:
        parts = [f"{significant(side.sample.median * factor)} {unit}"] if side.sample else []
        if side.failures:
            parts.append(f"{side.failures}/{side.runs} failed")
        labels[side.protocol] = ", ".join(parts) or "not measured"
    return labels


def _reach(side: Side) -> float:
    """The rightmost thing drawn for a side."""
    return side.sample.high if side.sample else 0.0


def _limit(analysis: Analysis, cell: Cell, labels: dict[str, str], width: float) -> float:
    """An upper end of the axis that leaves room for every label after its dots."""
    needed = [
        _reach(side) * width / (width - _label_width(labels[side.protocol], width))
        for side in cell.sides
    ]
    return max([*needed, _smallest(analysis.cells)], default=1.0)


def _label_width(label: str, width: float) -> float:
    return min(len(label) * _CHARACTER + 10, 0.72 * width)


def _smallest(cells: Sequence[Cell]) -> float:
    """A positive end for axes of cells in which nothing was measured."""
    reaches = [_reach(side) for cell in cells for side in cell.sides]
    return max(reaches, default=0.0) * 1e-6 or 1.0
