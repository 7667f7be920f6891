"""Where cells stand in a figure: rows and columns from the factors of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis import Analysis, Cell


@dataclass(frozen=True)
class Grid:
    """Cells in rows and columns.

    Attributes:
        rows: a label for each row; empty if there is nothing to tell.
        columns: for each column the titles of its factors' levels, outermost first.
        places: the cells, with row and column.
    """

    rows: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, int, Cell], ...]


def crossed(analysis: Analysis, most_columns: int) -> Grid:
    """Rows of the first factors, columns of the others, with as many columns as allowed.

    With two factors or more at least the first makes the rows.
    """
    count = len(analysis.conditions.factors)
    for split in range(min(count, 1) if count > 1 else 0, count + 1):
        grid = _split(analysis, split)
        if len(grid.columns) <= most_columns:
            break
    return grid


def wrapped(cells: Sequence[Cell], columns: int) -> Grid:
    """Cells one after the other, as text flows."""
    width = min(columns, len(cells))
    height = -(-len(cells) // width) if width else 0
    places = tuple((place // width, place % width, cell) for place, cell in enumerate(cells))
    return Grid(("",) * height, ((),) * width, places)


def _split(analysis: Analysis, split: int) -> Grid:
    """Rows of the first ``split`` factors, columns of the others; only combinations that occur."""
    factors = analysis.conditions.factors
    rows = sorted({cell.levels[:split] for cell in analysis.cells})
    columns = sorted({cell.levels[split:] for cell in analysis.cells})
    return Grid(
        rows=tuple(analysis.conditions.joined(row) for row in rows),
        columns=tuple(
            tuple(
                factor.titles[level] for factor, level in zip(factors[split:], column, strict=True)
            )
            for column in columns
        ),
        places=tuple(
            (rows.index(cell.levels[:split]), columns.index(cell.levels[split:]), cell)
            for cell in analysis.cells
        ),
    )
