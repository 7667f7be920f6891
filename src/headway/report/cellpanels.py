"""The cells that have a panel in a figure: of those that have what it shows, the most telling ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, ContenderRuns
from headway.report.most_telling import left_out, telling_cells
from headway.report.panels import most_panels

Has = Callable[[ContenderRuns], object]
"""Tells whether a contender's runs in a cell have what a figure shows."""


@dataclass(frozen=True)
class CellPanels:
    """Cells that have a panel.

    Attributes:
        cells: those with the largest differences, in the order of the analysis.
        known: how many cells have what the figure shows.
        has: tells who has it.
    """

    cells: tuple[Cell, ...]
    known: int
    has: Has

    @classmethod
    def of(cls, analysis: Analysis, has: Has, most: int | None = None) -> CellPanels | None:
        """Those of a figure; None if no cell has what it shows.

        Args:
            analysis: what is drawn.
            has: tells who has what the figure shows.
            most: panels; by default as many as a figure of rows has.
        """
        known = [cell for cell in analysis.cells if any(map(has, cell.sides))]
        if not known:
            return None
        telling = telling_cells(analysis, most_panels(analysis) if most is None else most)
        return cls(tuple(cell for cell in telling if cell in known), len(known), has)

    @property
    def sides(self) -> Iterator[tuple[Cell, ContenderRuns]]:
        """The contenders in these cells that have what the figure shows."""
        return ((cell, side) for cell in self.cells for side in cell.sides if self.has(side))

    def left_out(self, what: str = "conditions") -> str:
        """The end of a caption, which says that cells are left out; empty if none is."""
        return left_out(len(self.cells), self.known, what)


def sides_frame(
    analysis: Analysis, rows: Callable[[ContenderRuns], Iterable[Mapping[str, Any]]]
) -> pl.DataFrame:
    """The table of a figure: rows of each contender in each cell, behind the names of both.

    Args:
        analysis: what is drawn.
        rows: those of a contender in a cell; none if it has nothing of what the figure shows.
    """
    every = [
        {"cell": cell.name, "title": cell.title, "contender": side.contender, **row}
        for cell in analysis.cells
        for side in cell.sides
        for row in rows(side)
    ]
    return pl.DataFrame(every, infer_schema_length=None)
