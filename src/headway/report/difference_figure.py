"""The figure of differences: a grid of cells per comparison, coloured where it matters."""

from __future__ import annotations

import itertools

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headway.analysis import Analysis, Cell, Comparison, Pairing, Verdict
from headway.analysis.numbers import signed_percent
from headway.report.drawing import blank, drawing, line, points, sheet, write
from headway.report.layout import Grid, crossed
from headway.report.theme import FASTER, INK, MUTED, ON_FILL, PAPER, RULE, SLOWER, Colour

_STEPS = (1.1, 1.5, 2.0)
"""Ratios of the medians at which the colour changes."""
_HEADING = 28
_HEADER = 20
_ROW = 32
_GAP = 28
_CHARACTER = 6.6
_WIDEST_CELL = 128
_NARROWEST_CELL = 56
_MOST_COLUMNS = 10
_LEGEND_HEIGHT = 54


def difference_figure(analysis: Analysis, width: float) -> Figure:
    """Relative difference of medians per cell, one block per compared contender.

    Args:
        analysis: the study, with at least one contender to compare.
        width: width of the figure in pixels.
    """
    grid = _arranged(analysis, width)
    labels = _labels_width(grid, width)
    beside = _blocks_beside(analysis, grid, width, labels)
    across = (width - labels - _GAP * (beside - 1)) / beside / len(grid.columns)
    cell_width = min(across, _WIDEST_CELL)
    tall = _HEADING + _HEADER * len(grid.columns[0]) + _ROW * len(grid.rows) + 18
    stacks = -(-len(analysis.pairings) // beside)
    with drawing():
        figure = blank(width, tall * stacks + _LEGEND_HEIGHT)
        axes = sheet(figure)
        for place, pairing in enumerate(analysis.pairings):
            left = labels + (place % beside) * (cell_width * len(grid.columns) + _GAP)
            top = (place // beside) * tall
            if place % beside == 0:
                _row_labels(axes, grid, labels, top)
            _block(axes, grid, pairing, (left, top, cell_width))
        _legend(axes, analysis, width, tall * stacks)
    return figure


def _arranged(analysis: Analysis, width: float) -> Grid:
    """As many columns as leave room for their titles and their text."""
    for columns in range(_MOST_COLUMNS, 1, -1):
        grid = crossed(analysis, columns)
        longest = max((len(title) for titles in grid.columns for title in titles[-1:]), default=0)
        room = (width - _labels_width(grid, width)) / len(grid.columns)
        if room >= max(_NARROWEST_CELL, longest * _CHARACTER + 6):
            return grid
    return crossed(analysis, 1)


def _labels_width(grid: Grid, width: float) -> float:
    """Room for the labels of rows, all that they need if the cells can do without it."""
    if not any(grid.rows):
        return 0
    needed = max(len(label) for label in grid.rows) * _CHARACTER + 12
    return min(needed, width - 1.5 * _NARROWEST_CELL)


def _blocks_beside(analysis: Analysis, grid: Grid, width: float, labels: float) -> int:
    """How many blocks fit beside each other with cells wide enough for their text."""
    for count in range(len(analysis.pairings), 1, -1):
        if (width - labels - _GAP * (count - 1)) / count / len(grid.columns) >= 84:
            return count
    return 1


def _row_labels(axes: Axes, grid: Grid, labels: float, top: float) -> None:
    top += _HEADING + _HEADER * len(grid.columns[0])
    for row, label in enumerate(grid.rows):
        most = int((labels - 12) / _CHARACTER)
        shown = label if len(label) <= most + 1 else f"{label[:most]}…"
        write(axes, labels - 10, top + (row + 0.5) * _ROW, shown, ha="right")


def _block(
    axes: Axes,
    grid: Grid,
    pairing: Pairing,
    place: tuple[float, float, float],
) -> None:
    left, top, width = place
    write(axes, left, top + 11, str(pairing), weight="bold", pixels=14)
    _headers(axes, grid, (left, top + _HEADING, width))
    top += _HEADING + _HEADER * len(grid.columns[0])
    for row, column, cell in grid.places:
        corner = (left + column * width, top + row * _ROW)
        _entry(axes, cell, pairing, (*corner, width))


def _headers(axes: Axes, grid: Grid, place: tuple[float, float, float]) -> None:
    """Titles of columns, outer factors above inner ones, equal neighbours merged."""
    left, top, width = place
    depth = len(grid.columns[0])
    for level in range(depth):
        start = 0
        for _, group in itertools.groupby(grid.columns, key=lambda titles: titles[: level + 1]):
            titles = list(group)
            middle = left + (start + len(titles) / 2) * width
            y = top + (level + 0.5) * _HEADER
            write(axes, middle, y, titles[0][level], ha="center", color=MUTED.light)
            if level < depth - 1:
                ends = (left + start * width + 4, left + (start + len(titles)) * width - 4)
                line(axes, ends, (y + 10, y + 10), RULE, 1)
            start += len(titles)


def _entry(axes: Axes, cell: Cell, pairing: Pairing, place: tuple[float, float, float]) -> None:
    left, top, width = place
    comparison = cell.comparison(pairing)
    fill, ink = shade(comparison)
    _box(axes, (left + 1.5, top + 1.5, width - 3, _ROW - 3), fill)
    sides = (cell.side(pairing.contender), cell.side(pairing.against))
    failed = any(side is not None and side.failures for side in sides)
    weight = "bold" if comparison and comparison.matters else "normal"
    text = entry_text(comparison) + (" †" if failed else "")
    middle = (left + width / 2, top + _ROW / 2)
    write(axes, *middle, text, ha="center", color=ink.light, weight=weight)


def entry_text(comparison: Comparison | None) -> str:
    """What a cell of the figure says: in brackets what is chance or negligible."""
    if comparison is None:
        return "not run"
    if comparison.relative is None:
        return "no data" if comparison.verdict is Verdict.INCOMPARABLE else "–"
    text = signed_percent(comparison.relative)
    text = text if text.startswith("×") else f"{text} %"
    return text if comparison.matters else f"({text})"


def shade(comparison: Comparison | None) -> tuple[Colour, Colour]:
    """Fill and text colour of a comparison: white unless there is a difference that matters."""
    if comparison is None or not comparison.matters or comparison.relative is None:
        return PAPER, MUTED
    ratio = 1 + comparison.relative
    ratio = max(ratio, 1 / ratio) if ratio > 0 else _STEPS[-1]
    strength = sum(ratio >= step for step in _STEPS)
    colours = FASTER if comparison.verdict is Verdict.FASTER else SLOWER
    return colours[strength], ON_FILL[strength]


def _box(axes: Axes, place: tuple[float, float, float, float], fill: Colour) -> None:
    left, top, width, height = place
    edge = RULE if fill is PAPER else fill
    axes.add_patch(
        Rectangle(
            (left, top),
            width,
            height,
            facecolor=fill.light,
            edgecolor=edge.light,
            linewidth=points(1),
        )
    )


def _legend(axes: Axes, analysis: Analysis, width: float, top: float) -> None:
    """A scale from much faster to much slower, with the differences at which colours change."""
    fills = [*reversed(FASTER), PAPER, *SLOWER]
    box = min(72.0, (width - 4) / len(fills))
    for place, fill in enumerate(fills):
        _box(axes, (place * box + 1, top + 18, box - 2, 14), fill)
    less, more = [1 / step - 1 for step in _STEPS], [step - 1 for step in _STEPS]
    faster, slower = (less, more) if analysis.metric.less_is_better else (more, less)
    for place, share in zip((3, 2, 1, 6, 7, 8), [*faster, *slower], strict=True):
        text = signed_percent(share) + (" %" if box >= 44 else "")
        write(axes, place * box, top + 41, text, ha="center", pixels=11, color=MUTED.light)
    write(axes, 2, top + 8, "faster", pixels=11, color=INK.light)
    write(axes, len(fills) * box, top + 8, "slower", ha="right", pixels=11, color=INK.light)
    write(axes, 4.5 * box, top + 8, "no difference", ha="center", pixels=11, color=INK.light)
