"""Places where something holds, in a few words: some cells of an experiment by what they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.condition_phrases import cell_words, words
from headway.analysis.numbers import listed
from headway.analysis.partition import Restriction

_MOST_NAMED = 3
"""More cells than these are counted, not named."""


def told_place(analysis: Analysis, cells: Sequence[Cell], among: Sequence[Cell]) -> str:
    """Where some cells are: ``with fq_codel``, ``from 2 BDP on``, ``in 5 of 12 conditions``; empty if there is one cell.

    Args:
        analysis: the experiment.
        cells: those that are meant.
        among: those of which it is said, these among them.
    """
    if len(among) < 2:
        return ""
    if len(cells) == len(among):
        return f"in {'both' if len(among) == 2 else f'all {len(among)}'} conditions"
    if len(cells) > 1 and (text := _within_axis(analysis, cells, among)):
        return f"with {text}"
    if text := _levels(analysis, cells, among):
        return text
    if len(cells) <= _MOST_NAMED:
        return listed([cell_words(analysis.conditions, cell) for cell in cells])
    return f"in {len(cells)} of {len(among)} conditions"


def _levels(analysis: Analysis, cells: Sequence[Cell], among: Sequence[Cell]) -> str:
    """The levels of one factor that these cells have, all of them, and no other; empty if there are none such."""
    for place, factor in enumerate(analysis.conditions.factors):
        levels = {cell.levels[place] for cell in cells}
        alike = [cell for cell in among if cell.levels[place] in levels]
        if len(alike) == len(cells):
            return words(Restriction(factor, tuple(sorted(levels))))
    return ""


def _within_axis(analysis: Analysis, cells: Sequence[Cell], among: Sequence[Cell]) -> str:
    """What these cells have and no other has, if it is one value of the tables that an axis consists of."""
    having: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cell in among:
        for key, value in analysis.experiment.coordinates.get(cell.name, {}).items():
            for part in _parts(key, value) if isinstance(value, Mapping) else ():
                having[part].add(cell.name)
    names = {cell.name for cell in cells}
    return next((value for (_, value), texts in having.items() if texts == names), "")


def _parts(key: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _parts(f"{key}.{name}", value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f"{key}.{name}", str(value)
