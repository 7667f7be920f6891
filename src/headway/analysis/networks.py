"""Experiments over sites: their cells by network, which is all that varies but the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.columns import Status

LEAST_SITES = 12
"""Fewer sites say too little of others."""
_PAGE = "page"
"""What the factor is called whose levels are sites."""


@dataclass(frozen=True)
class Network:
    """A network, and the cell of each site there.

    Attributes:
        title: what varies beside the page; empty if nothing does.
        cells: by site.
    """

    title: str
    cells: Mapping[str, Cell]


def networks(analysis: Analysis, least: int = LEAST_SITES) -> tuple[Network, ...]:
    """The networks of an experiment over sites; none if there are fewer sites than the least."""
    factors = analysis.conditions.factors
    place = next((n for n, factor in enumerate(factors) if factor.name == _PAGE), None)
    if place is None or len(factors[place].levels) < least:
        return ()
    cells: dict[str, dict[str, Cell]] = {}
    for cell in analysis.cells:
        others = zip(factors, cell.levels, strict=True)
        titles = [axis.titles[level] for n, (axis, level) in enumerate(others) if n != place]
        site = factors[place].levels[cell.levels[place]]
        cells.setdefault(", ".join(titles), {})[site] = cell
    return tuple(Network(title, result) for title, result in cells.items())


def medians(analysis: Analysis, column: str) -> dict[tuple[str, str], float]:
    """Medians of a column over the runs that ended well, by cell and contender."""
    table = (
        analysis.runs.filter(pl.col("status") == Status.OK.value)
        .group_by("cell", "contender")
        .agg(pl.col(column).median())
        .drop_nulls()
    )
    return {(cell, contender): float(value) for cell, contender, value in table.iter_rows()}
