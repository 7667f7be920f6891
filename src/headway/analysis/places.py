"""Where something holds, in a few words: the cells of an experiment by what they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.numbers import listed

MOST_NAMED = 3
"""More cells than these are counted, not named."""


def told_place(analysis: Analysis, cells: Sequence[Cell], among: Sequence[Cell]) -> str:
    """Where some cells are: ``with fq_codel``, ``with A and B``, ``in 5 of 12 cells``; empty if there is one cell.

    Args:
        analysis: the experiment.
        cells: those that are meant.
        among: those of which it is said, these among them.
    """
    if len(among) < 2:
        return ""
    if len(cells) == len(among):
        return f"in {'both' if len(among) == 2 else f'all {len(among)}'} cells"
    if label := _common(analysis, cells, among):
        return f"with {label}"
    if len(cells) <= MOST_NAMED:
        return f"with {listed([cell.title for cell in cells])}"
    return f"in {len(cells)} of {len(among)} cells"


def _common(analysis: Analysis, cells: Sequence[Cell], among: Sequence[Cell]) -> str:
    """What these cells have and no other has, if it is one value of an axis, or a part of one."""
    if len(cells) < 2:
        return ""
    names = {cell.name for cell in cells}
    having: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cell in among:
        for part in _parts(analysis, cell):
            having[part].add(cell.name)
    return next((label for (_, label), found in having.items() if found == names), "")


def _parts(analysis: Analysis, cell: Cell) -> Iterator[tuple[str, str]]:
    """The levels of a cell, and the values within those that are tables: place and words of each."""
    factors = analysis.conditions.factors
    for factor, level in zip(factors, cell.levels, strict=True):
        yield factor.name, factor.titles[level]
    for key, value in analysis.experiment.coordinates.get(cell.name, {}).items():
        if isinstance(value, Mapping):
            yield from _within(key, value)


def _within(key: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _within(f"{key}.{name}", value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f"{key}.{name}", str(value)
