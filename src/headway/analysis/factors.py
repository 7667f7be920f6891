"""Factors of a study: what varies between its cells, and how a cell is called by it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl

from headway.analysis.axes import Axis, Grid, axes_of
from headway.analysis.columns import (
    COLUMNS,
    Condition,
    null_last,
    numbers,
    ordered_levels,
    shortened,
)
from headway.analysis.conditions import Conditions, Constant, Factor
from headway.analysis.pathconditions import in_words

_BETWEEN = ", "
"""Stands between the words of a list."""

_Values = dict[tuple[str, str], list[Any]]
"""The values of a column by cell and contender."""


def conditions(runs: pl.DataFrame, grid: Grid) -> Conditions:
    """Find what varies between the cells of an experiment and what is constant.

    Cells are told apart by the axes of their study. Where its grid is not known, and for
    everything else that varies, by the columns of the records:

    Of a condition only the contenders for which it varies between cells tell the cells apart
    (``h3`` may keep its own congestion control in all of them). What is the same for a contender
    in all cells, but not for all contenders, is part of what the contender is, and what varies
    between its repetitions in a cell is drawn by chance: neither tells cells apart.

    Args:
        runs: the runs of the experiment.
        grid: coordinates of its cells; empty if they are not known.
    """
    cells = sorted(runs["cell"].unique().to_list())
    keys: dict[str, tuple[int, ...]] = dict.fromkeys(cells, ())
    factors: list[Factor] = []
    constants: list[Constant] = []
    dependents: list[Factor] = []
    drawn: list[Constant] = []
    runs, columns = in_words(runs, tuple(map(shortened(runs), COLUMNS)))
    values_of = _values(runs, columns)
    axes = axes_of(runs, grid, columns)
    for axis in axes:
        if len(axis.factor.levels) > 1:
            factors.append(axis.factor)
            keys = {cell: (*keys[cell], axis.level_of[cell]) for cell in cells}
        elif axis.column is None:
            (level,), (title,) = axis.factor.levels, axis.factor.titles
            constants.append(Constant(axis.factor.name, level, title))
    texts = {axis.column for axis in axes if len(axis.factor.levels) > 1}
    for column in columns:
        if column.column in texts:
            continue
        if (result := values_of.get(column.column)) is None:
            constants += _constant(column, (runs[column.column][0],))
            continue
        if any(len(values) > 1 for values in result.values()):
            drawn.append(_drawn(column, result))
            continue
        by_cell = _by_cell(result)
        ordered = ordered_levels(set(by_cell.values()), runs, column.column)
        if len(ordered) == 1:
            constants += _constant(column, ordered[0])
            continue
        refined = {cell: (*keys[cell], ordered.index(by_cell[cell])) for cell in cells}
        if len(set(refined.values())) > len(set(keys.values())):
            factors.append(_factor(column, ordered, runs))
            keys = refined
        else:
            dependents.append(_factor(column, ordered, runs))
    return Conditions(
        *_told_apart(factors, keys), tuple(constants), tuple(dependents), tuple(drawn)
    )


def axis_of(runs: pl.DataFrame, grid: Grid, key: str) -> Axis | None:
    """The axis of this name, if it tells the cells of these runs apart."""
    runs, columns = in_words(runs, tuple(map(shortened(runs), COLUMNS)))
    return next((axis for axis in axes_of(runs, grid, columns) if axis.key == key), None)


def _values(runs: pl.DataFrame, columns: Sequence[Condition]) -> dict[str, _Values]:
    """The columns that are not the same in all runs, each with its values."""
    names = [column.column for column in columns if runs[column.column].n_unique() > 1]
    table = runs.group_by("cell", "contender").agg(pl.col(name).unique() for name in names)
    places = list(zip(table["cell"].to_list(), table["contender"].to_list(), strict=True))
    return {name: dict(zip(places, table[name].to_list(), strict=True)) for name in names}


def _by_cell(results: _Values) -> dict[str, tuple[Any, ...]]:
    """What a column says of each cell, nulls last; the same of all if it cannot tell them apart."""
    of_contender: dict[str, set[Any]] = defaultdict(set)
    of_cell: dict[str, set[Any]] = defaultdict(set)
    for (cell, contender), values in results.items():
        of_contender[contender].update(values)
        of_cell[cell].update(values)
    varying = {contender for contender, values in of_contender.items() if len(values) > 1}
    if not varying:
        everything = tuple(sorted(set().union(*of_contender.values()), key=null_last))
        return dict.fromkeys(of_cell, everything)
    telling: dict[str, set[Any]] = defaultdict(set)
    for (cell, contender), values in results.items():
        if contender in varying:
            telling[cell].update(values)
    return {
        cell: tuple(sorted(telling.get(cell) or values, key=null_last))
        for cell, values in of_cell.items()
    }


def _drawn(column: Condition, results: _Values) -> Constant:
    """The range of what was drawn."""
    values = sorted(set(itertools.chain.from_iterable(results.values())), key=null_last)
    ends = [values[0], values[-1]] if len(values) > 2 else values
    return Constant(
        column.name,
        " to ".join(map(column.text, ends)),
        " to ".join(map(column.titled, ends)),
    )


def _told_apart(
    factors: list[Factor], keys: dict[str, tuple[int, ...]]
) -> tuple[tuple[Factor, ...], dict[str, tuple[int, ...]]]:
    """Add the cell's own name as a factor where the columns cannot tell cells apart."""
    if len(set(keys.values())) < len(keys):
        names = tuple(sorted(keys))
        factors = [*factors, Factor("cell", names, names)]
        keys = {cell: (*levels, names.index(cell)) for cell, levels in keys.items()}
    return tuple(factors), dict(sorted(keys.items(), key=lambda entry: entry[1]))


def _factor(column: Condition, ordered: list[tuple[Any, ...]], runs: pl.DataFrame) -> Factor:
    shared = set.intersection(*map(set, ordered))
    shown = [[v for v in result if v not in shared] or list(result) for result in ordered]
    return Factor(
        name=column.name,
        levels=tuple(" / ".join(map(column.text, values)) for values in shown),
        titles=tuple(" / ".join(map(column.titled, values)) for values in shown),
        values=numbers(column, shown, runs),
    )


def _constant(column: Condition, values: tuple[Any, ...]) -> list[Constant]:
    """A constant worth stating: known, and the same for all contenders, or what of it is."""
    if column.naming.listed and len(values) > 1 and (shared := _shared(values)):
        values = (shared,)
    if len(values) > 1 or (values[0] is None and column.naming.absent is None):
        return []
    return [Constant(column.name, column.text(values[0]), column.keyed(values[0]))]


def _shared(values: tuple[Any, ...]) -> str:
    """What is in every one of several lists."""
    lists = [(value or "").split(_BETWEEN) for value in values]
    return _BETWEEN.join(word for word in lists[0] if all(word in words for words in lists[1:]))
