"""The layout of cells in a figure: rows and columns from the factors of the study."""

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


def crossed(analysis: Analysis, cells: Sequence[Cell], most_columns: int) -> Grid:
    """Rows of the first factors, columns of the others, with as many columns as allowed.

    With two factors or more at least the first makes the rows; of two, the one with fewer levels.
    """
    counts = [len(factor.levels) for factor in analysis.conditions.factors]
    count = len(counts)
    if count == 2 and counts[1] < counts[0] <= most_columns:
        return arranged(analysis, cells, (1,), (0,))
    for split in range(min(count, 1) if count > 1 else 0, count + 1):
        grid = arranged(analysis, cells, range(split), range(split, count))
        if len(grid.columns) <= most_columns:
            break
    return grid


def wrapped(cells: Sequence[Cell], columns: int) -> Grid:
    """Cells one after the other, as text flows."""
    width = min(columns, len(cells))
    height = -(-len(cells) // width) if width else 0
    places = tuple((place // width, place % width, cell) for place, cell in enumerate(cells))
    return Grid(("",) * height, ((),) * width, places)


def arranged(
    analysis: Analysis, cells: Sequence[Cell], down: Sequence[int], across: Sequence[int]
) -> Grid:
    """Rows and columns of these factors, by their places; only combinations that occur."""
    row_of = {cell.name: tuple(cell.levels[place] for place in down) for cell in cells}
    column_of = {cell.name: tuple(cell.levels[place] for place in across) for cell in cells}
    rows, columns = sorted(set(row_of.values())), sorted(set(column_of.values()))
    row_at = {levels: place for place, levels in enumerate(rows)}
    column_at = {levels: place for place, levels in enumerate(columns)}
    return Grid(
        rows=tuple(", ".join(_titles(analysis, down, levels)) for levels in rows),
        columns=tuple(_titles(analysis, across, levels) for levels in columns),
        places=tuple(
            (row_at[row_of[cell.name]], column_at[column_of[cell.name]], cell) for cell in cells
        ),
    )


def _titles(analysis: Analysis, places: Sequence[int], levels: Sequence[int]) -> tuple[str, ...]:
    factors = analysis.conditions.factors
    return tuple(factors[place].titles[level] for place, level in zip(places, levels, strict=True))
