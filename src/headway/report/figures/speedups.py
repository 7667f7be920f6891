"""Heat map of start-up delays of videos over all pairs of runs, as Perna and others (2022) have it."""

from __future__ import annotations

from functools import partial

import polars as pl

from headway.analysis import Analysis, Cell, Pairing
from headway.analysis.numbers import signed_percent
from headway.analysis.video_quality import median_speed_up
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.most_telling import representative_cells
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import FASTER, MUTED, ON_FILL, PAPER, RULE, SLOWER, Colour

_ROW, _HEAD, _FOOT = 28.0, 26.0, 8.0
_STEPS = (0.01, 0.05, 0.15, 0.3)
"""Differences at which the colour changes."""
_MOST_CELLS = 40
_WIDEST, _LABELS = 150.0, 0.42


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    values = {
        (cell.name, pairing): value
        for cell in analysis.cells
        for pairing in analysis.pairings
        if (value := speed_up(cell, pairing)) is not None
    }
    if not values:
        return None
    cells = tuple(
        cell
        for cell in representative_cells(analysis, _MOST_CELLS)
        if any((cell.name, pairing) in values for pairing in analysis.pairings)
    )
    text = (
        "Time until the first segment had come, of every run of a contender against every run of the other: their "
        "difference over the greater of the two, and the median of all pairs (Perna and others 2022, equations 2 and 3). "
        "Negative is faster. Coloured from 1 % on; these are no tests of significance."
    )
    return Picture(
        name=picture_name(analysis, "speedups"),
        title="Median speed-up of the first segment",
        caption=text,
        drawing=partial(_sheet, analysis, cells),
        data=partial(_data, analysis),
        said=told(
            f"{cell.title}, {pairing}: {signed_percent(values[cell.name, pairing])} %"
            for cell in cells
            for pairing in analysis.pairings
            if (cell.name, pairing) in values
        ),
    )


KIND = Kind(place=46, section=Section.RESULTS, draw=_draw, every_metric=False)


def speed_up(cell: Cell, pairing: Pairing) -> float | None:
    """The median of a comparison in a cell; None if one of the two played no video there."""
    side, against = cell.side(pairing.contender), cell.side(pairing.against)
    if side is None or against is None or side.watched is None or against.watched is None:
        return None
    return median_speed_up(side.watched, against.watched)


def _data(analysis: Analysis) -> pl.DataFrame:
    rows = [
        {
            "cell": cell.name,
            "title": cell.title,
            "contender": pairing.contender,
            "against": pairing.against,
            "median_speed_up": speed_up(cell, pairing),
        }
        for cell in analysis.cells
        for pairing in analysis.pairings
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _sheet(analysis: Analysis, cells: tuple[Cell, ...], width: float) -> Sheet:
    """A row for each cell, a column for each comparison; below each other where they have no room."""
    labels = min(max(text_width(cell.title) for cell in cells) + 12, _LABELS * width)
    pairings = analysis.pairings
    column = min((width - labels) / len(pairings), _WIDEST)
    fits = all(text_width(str(pairing), 11) < column - 4 for pairing in pairings)
    blocks = [pairings] if fits else [(pairing,) for pairing in pairings]
    wide = column if fits else min(width - labels, _WIDEST)
    tall = _HEAD + _ROW * len(cells)
    sheet = Sheet(width, tall * len(blocks) + _FOOT)
    for number, block in enumerate(blocks):
        top = number * tall
        for row, cell in enumerate(cells):
            y = top + _HEAD + (row + 0.5) * _ROW
            sheet.label(labels - 8, y, cell.title, labels - 10, anchor="end")
        for place, pairing in enumerate(block):
            left = labels + place * wide
            room = wide - 4 if fits else width - labels
            sheet.label(left + 2, top + _HEAD / 2, str(pairing), room, MUTED, size=11)
            for row, cell in enumerate(cells):
                _entry(sheet, speed_up(cell, pairing), left, top + _HEAD + row * _ROW, wide)
    return sheet


def _entry(sheet: Sheet, value: float | None, left: float, top: float, wide: float) -> None:
    fill, ink = _shade(value)
    edge = RULE if fill is PAPER else None
    sheet.box(left + 1.5, top + 1.5, wide - 3, _ROW - 3, fill=fill, edge=edge)
    text = "–" if value is None else f"{signed_percent(value)} %"
    sheet.text(left + wide / 2, top + _ROW / 2, text, ink, size=12, anchor="middle")


def _shade(value: float | None) -> tuple[Colour, Colour]:
    if value is None or abs(value) < _STEPS[0]:
        return PAPER, MUTED
    strength = sum(abs(value) >= step for step in _STEPS) - 1
    return (FASTER if value < 0 else SLOWER)[strength], ON_FILL[strength]
