"""Coexistence: the share of every flow beside every other, a matrix per cell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import median

from headway.analysis import Analysis, Cell
from headway.report.figures.data import runs_data, told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.most_telling import telling_cells
from headway.report.plots import Frame, Tiles
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import FASTER, MUTED, ON_FILL, PAPER, RULE, SLOWER
from headway.study.pairwise import VERSUS

_LEAST_FLOWS = 3
_MOST_PANELS = 8
_ROW, _HEADER = 24.0, 22.0
_STEPS = (0.05, 0.15, 0.25, 0.35)
"""Differences from half at which the colour changes."""

_Shares = Mapping[tuple[str, str], float]
"""Of the first flow beside the second, 0 to 1."""


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    names = _names(analysis)
    if analysis.metric.column != "first_ratio" or len(names) < _LEAST_FLOWS:
        return None
    cells = telling_cells(analysis, _MOST_PANELS)
    shown = [(cell, shares) for cell in cells if (shares := _shares(cell, names))]
    if not shown:
        return None
    less = (
        f" {len(shown)} of {len(analysis.cells)} cells." if len(shown) < len(analysis.cells) else ""
    )
    return Picture(
        name=picture_name(analysis, "coexistence"),
        title="Who takes what beside whom",
        caption=(
            "Share of both goodputs, in percent, that the flow of the row has beside that of the column: median of "
            f"the runs. Green: more than half, purple: less; no colour: 45 to 55 %.{less}"
        ),
        drawing=partial(_sheet, names, shown),
        data=lambda: runs_data(analysis),
        said=_said(shown),
        fits_narrow=len(names) <= _LEAST_FLOWS,
    )


KIND = Kind(place=12, section=Section.RESULTS, draw=_draw)


def _names(analysis: Analysis) -> tuple[str, ...]:
    """The flows that stand beside another of their own kind."""
    pairs = [name.split(VERSUS) for name in analysis.contenders if name.count(VERSUS) == 1]
    return tuple(first for first, other in pairs if first == other)


def _shares(cell: Cell, names: tuple[str, ...]) -> _Shares:
    values: dict[tuple[str, str], float] = {}
    for side in cell.sides:
        first, _, other = side.contender.partition(VERSUS)
        if not side.observations or first not in names or other not in names:
            continue
        ratio = median(run.value for run in side.observations)
        values[first, other] = ratio / (1 + ratio)
        if first != other:
            values[other, first] = 1 / (1 + ratio)
    return values


def _said(shown: list[tuple[Cell, _Shares]]) -> str:
    return " ".join(
        told(
            (f"{first} beside {other} {share:.0%}" for (first, other), share in shares.items()),
            start=f"{cell.title}: " if cell.title else "",
        )
        for cell, shares in shown
    )


def _sheet(names: tuple[str, ...], shown: list[tuple[Cell, _Shares]], width: float) -> Sheet:
    label = max(text_width(name, 11) for name in names) + 10
    needed = label + len(names) * 46.0
    height = _HEADER + len(names) * _ROW
    tiles = Tiles.fitting(len(shown), needed, width, left=label, height=height, gap=24)
    sheet = Sheet(width, tiles.total_height)
    tiles.fill(sheet, ((cell.title, partial(_matrix, names, shares)) for cell, shares in shown))
    return sheet


def _matrix(names: tuple[str, ...], shares: _Shares, sheet: Sheet, frame: Frame) -> None:
    box = min(74.0, frame.width / len(names))
    for column, name in enumerate(names):
        middle = frame.left + (column + 0.5) * box
        sheet.label(middle, frame.top + 10, name, box - 4, MUTED, size=11, anchor="middle")
    for row, first in enumerate(names):
        top = frame.top + _HEADER + row * _ROW
        sheet.text(frame.left - 6, top + _ROW / 2, first, MUTED, size=11, anchor="end")
        for column, other in enumerate(names):
            share = shares.get((first, other))
            if share is None:
                continue
            left = frame.left + column * box
            strength = sum(abs(share - 0.5) >= step for step in _STEPS) - 1
            colours = FASTER if share > 0.5 else SLOWER
            fill = colours[strength] if strength >= 0 else PAPER
            edge = RULE if strength < 0 else None
            sheet.box(left + 1, top + 1, box - 2, _ROW - 2, fill=fill, edge=edge)
            ink = ON_FILL[max(strength, 0)]
            middle = left + box / 2
            sheet.text(middle, top + _ROW / 2, f"{share * 100:.0f}", ink, size=11, anchor="middle")
