"""Conditions of paths that words say: they replace the numbers that are but a part of it, or stand beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from headway.analysis.columns import Condition
from headway.columns import Naming

_COLUMN = "path"
_BOTH_WAYS = "loss"
"""The aspect with a number for each way whose words hold for both, unless the way up has words of its own."""
_BEFORE = "clock"
"""Aspects without numbers come before this column in titles."""


def in_words(
    runs: pl.DataFrame, columns: Sequence[Condition]
) -> tuple[pl.DataFrame, tuple[Condition, ...]]:
    """The runs with the aspects of their paths as columns, and the conditions with these.

    An aspect that has a column of numbers takes its place, so that nobody reads the first of many rates as the rate.
    """
    result = [_aspects(entries or ()) for entries in runs[_COLUMN].to_list()]
    names = dict.fromkeys(name for conditions in result for name in conditions)
    if not names:
        return runs, tuple(columns)
    numbered = {column.name: column for column in columns}
    texts: list[pl.Series] = []
    conditions = {column.column: column for column in columns}
    others: list[Condition] = []
    for name in names:
        own = [conditions.get(name) for conditions in result]
        if column := numbered.get(name):
            values = runs[column.column].to_list()
            own = [
                text if text is not None else _number(column, value)
                for text, value in zip(own, values, strict=True)
            ]
            conditions[column.column] = replace(column, level=str)
        else:
            naming = Naming(name, f"{name} {{}}", absent=f"no {name}")
            column = Condition(aspect_column(name), naming, str)
            others.append(column)
        texts.append(pl.Series(column.column, own, dtype=pl.String()))
    place = next(at for at, condition in enumerate(columns) if condition.column == _BEFORE)
    ordered = list(conditions.values())
    return runs.with_columns(texts), (*ordered[:place], *others, *ordered[place:])


def aspect_column(name: str) -> str:
    """The column of an aspect that has no column of numbers."""
    return f"{_COLUMN} {name}"


def _aspects(entries: Sequence[str]) -> Mapping[str, str]:
    split = (entry.partition(": ") for entry in entries)
    words_of = {name: words for name, _, words in split}
    if _BOTH_WAYS in words_of:
        words_of.setdefault(f"{_BOTH_WAYS} up", words_of[_BOTH_WAYS])
    return words_of


def _number(column: Condition, value: object) -> str | None:
    return None if value is None else column.level(value)
