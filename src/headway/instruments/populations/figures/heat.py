"""The median difference over the sites of a population for each pair of two conditions, such as network and device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from headway.analysis import Analysis
from headway.instruments.populations.deltas import PopulationDeltas, weighted_deltas
from headway.instruments.populations.sentences import delta_text, share_text
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.section import Section
from headway.report.sheet import Sheet, text_width
from headway.report.theme import FASTER, MUTED, ON_FILL, PAPER, RULE, SLOWER, Colour

_PAGE = "page"
_STEPS = (0.02, 0.05, 0.1)
"""Medians at which the colour changes."""
_ROW, _HEADER, _WIDEST = 32.0, 26.0, 150.0


@dataclass(frozen=True)
class _Grid:
    """Two conditions crossed: their levels, and the differences at each pair."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    at: Mapping[tuple[str, str], PopulationDeltas]


def _draw(subject: Subject) -> Picture | None:
    analysis, grid = subject.analysis, _grid(subject.analysis)
    if grid is None:
        return None
    return Picture(
        name=picture_name(analysis, "population-map"),
        title=f"Median delta of the {analysis.metric.label} over the sites",
        caption=(
            "The median over the sites, and the share of sites at which the contender was ahead. Coloured by the median "
            "(changes at 0.02, 0.05 and 0.1, either way), and only where it is shown that most sites are on one side. Strata are weighted where it is known how many sites they stand for."
        ),
        drawing=partial(_sheet, grid),
        data=lambda: _data(grid),
        said=told(
            f"{row}, {column}: {delta_text(population_deltas.median.value)}"
            for (row, column), population_deltas in grid.at.items()
        ),
    )


KIND = Kind(place=91, section=Section.POPULATION, draw=_draw)


def _grid(analysis: Analysis) -> _Grid | None:
    networks_deltas = weighted_deltas(analysis)
    factors = [factor for factor in analysis.conditions.factors if factor.name != _PAGE]
    if len(factors) != 2 or not networks_deltas:
        return None
    rows, columns = factors
    levels = {
        (r, c): f"{rows.titles[i]}, {columns.titles[j]}"
        for i, r in enumerate(rows.levels)
        for j, c in enumerate(columns.levels)
    }
    by_network = {
        population_deltas.network: population_deltas for population_deltas in networks_deltas
    }
    at = {place: by_network[title] for place, title in levels.items() if title in by_network}
    return _Grid(rows.levels, columns.levels, at) if at else None


def _sheet(grid: _Grid, width: float) -> Sheet:
    labels = min(max(map(text_width, grid.rows)) + 14, width * 0.35)
    column = min(_WIDEST, (width - labels) / len(grid.columns))
    sheet = Sheet(width, _HEADER + _ROW * len(grid.rows))
    for place, name in enumerate(grid.columns):
        x = labels + (place + 0.5) * column
        sheet.label(x, _HEADER / 2, name, column - 4, MUTED, size=11, anchor="middle")
    for row, name in enumerate(grid.rows):
        y = _HEADER + row * _ROW
        sheet.label(labels - 8, y + _ROW / 2, name, labels - 10, anchor="end")
        for place, other in enumerate(grid.columns):
            if first := grid.at.get((name, other)):
                left = labels + place * column
                _entry(sheet, first, (left, y, column))
    return sheet


def _entry(
    sheet: Sheet, population_deltas: PopulationDeltas, place: tuple[float, float, float]
) -> None:
    left, top, width = place
    fill, ink = _shade(population_deltas)
    edge = RULE if fill is PAPER else None
    sheet.box(left + 1.5, top + 1.5, width - 3, _ROW - 3, fill=fill, edge=edge)
    middle = left + width / 2
    share = f"{share_text(population_deltas.ahead.value)} of {len(population_deltas.sites)}"
    sheet.text(
        middle, top + 11, delta_text(population_deltas.median.value), ink, size=12, anchor="middle"
    )
    sheet.text(middle, top + 23, share, ink, size=10, anchor="middle")


def _shade(population_deltas: PopulationDeltas) -> tuple[Colour, Colour]:
    if not population_deltas.majority:
        return PAPER, MUTED
    strength = sum(abs(population_deltas.median.value) >= step for step in _STEPS)
    colours = FASTER if population_deltas.majority > 0 else SLOWER
    return colours[strength], ON_FILL[strength]


def _data(grid: _Grid) -> pl.DataFrame:
    return pl.DataFrame(_rows(grid))


def _rows(grid: _Grid) -> Sequence[dict[str, object]]:
    return [
        {
            "row": row,
            "column": column,
            "sites": len(population_deltas.sites),
            "median_delta": population_deltas.median.value,
            "ahead": population_deltas.ahead.value,
        }
        for (row, column), population_deltas in grid.at.items()
    ]
