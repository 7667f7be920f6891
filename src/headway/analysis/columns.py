"""The columns that may tell cells apart, and their values as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis.numbers import data_size, plain
from headway.columns import Column, Naming, Record, columns_of


@dataclass(frozen=True)
class Condition:
    """A column that may tell cells apart.

    Attributes:
        column: its name in the records.
        naming: how it is called, and its values in a title.
        level: its value as text.
        unit: of its numbers; empty if it has none.
    """

    column: str
    naming: Naming
    level: Callable[[Any], str]
    unit: str = ""

    @property
    def name(self) -> str:
        """What it is, in a word or two."""
        return self.naming.name

    def text(self, value: Any) -> str:
        """A value as text."""
        return (self.naming.absent or "?") if value is None else self.level(value)

    def titled(self, value: Any) -> str:
        """A value as it stands in a title."""
        return self._as(self.naming.title, value)

    def keyed(self, value: Any) -> str:
        """A value as it stands among others of all kinds."""
        return self._as(self.naming.keyed, value)

    def _as(self, form: str, value: Any) -> str:
        return self.text(value) if value is None else form.format(self.level(value))


_WITH_UNIT = frozenset({"Mbit/s", "ms", "%"})


def _conditions() -> Iterator[Condition]:
    for name, column in columns_of(Record).items():
        if column.naming:
            level = _level(column, column.naming)
            yield Condition(name, column.naming, level, column.unit or "")


def _level(column: Column, naming: Naming) -> Callable[[Any], str]:
    if column.kind is bool:
        yes, no = naming.states
        return lambda on: yes if on else no
    if column.unit in _WITH_UNIT:
        return lambda value: f"{plain(value)} {column.unit}"
    if column.unit == "bytes":
        return data_size
    return plain if column.kind is float else str


COLUMNS = tuple(sorted(_conditions(), key=lambda condition: condition.naming.place))
"""What titles are made of, in the order of their places. A column whose values follow from those before it (a queue of one
BDP follows from rate and RTT) is not part of the title."""

_SIZES = (pl.col("size_bytes").max(), pl.col("requests").max())
"""What orders workloads."""
_PAGE_BYTES = pl.col("page_bytes").max()
"""What orders those that load pages."""
_OBJECTS = re.compile(r"objects-(\d+)x(\d+)([A-Za-z]+)")
"""A page of so many objects of one size."""

ABSENT = {column.name: column.naming.absent for column in COLUMNS}
"""What is said where a condition has no value."""

UNSAID = {
    column.name: (column.naming.absent,) if column.naming.unsaid is None else column.naming.unsaid
    for column in COLUMNS
}
"""Values of constants that no text names, as they are the usual ones."""


def shortened(runs: pl.DataFrame) -> Callable[[Condition], Condition]:
    """Drop from workloads the words that all of them begin with: ``download 1 MB`` to ``1 MB``."""
    names = runs["workload"].drop_nulls().unique().to_list()
    common = _common_words(names)
    if len(names) < 2 or not common:
        return lambda column: column
    name = "size" if runs["size_bytes"].null_count() == 0 else common
    short = Condition("workload", Naming(name), lambda text: _short(text, common))
    return lambda column: short if column.column == "workload" else column


def _common_words(names: Sequence[str]) -> str:
    """Words without digits that all names begin with and none consists of."""
    words = [name.split() for name in names]
    least = min((len(word) for word in words), default=1) - 1
    together = zip(*(word[:least] for word in words), strict=True)
    common = itertools.takewhile(
        lambda group: len(set(group)) == 1 and not re.search(r"\d", group[0]), together
    )
    return " ".join(group[0] for group in common)


def _short(workload: str, common: str) -> str:
    """A workload without these words; pages of objects of one size as ``10 x 5 kB``."""
    return _OBJECTS.sub(r"\1 x \2 \3", workload.removeprefix(f"{common} "))


def _count(workload: str) -> int:
    """How many objects a page of objects of one size has; 0 of other workloads."""
    match = _OBJECTS.search(workload)
    return int(match[1]) if match else 0


def null_last(value: Any) -> tuple[bool, Any]:
    """A key that sorts null after everything."""
    return (value is None, 0 if value is None else value)


def ordered_levels(
    values: set[tuple[Any, ...]], runs: pl.DataFrame, column: str
) -> list[tuple[Any, ...]]:
    """Levels in ascending order; workloads by their size."""
    if column != "workload":
        return sorted(values, key=lambda result: tuple(map(null_last, result)))
    table = runs.group_by("workload").agg(*_SIZES, _PAGE_BYTES)
    sizes = {
        name: [*map(null_last, (*size, _count(name), page_bytes))]
        for name, *size, page_bytes in table.iter_rows()
    }
    return sorted(values, key=lambda result: [(sizes[name], name) for name in result])


def numbers(
    column: Condition, shown: list[list[Any]], runs: pl.DataFrame
) -> tuple[float, ...] | None:
    """The levels as numbers, different from each other; workloads by what orders them."""
    values = [result[0] for result in shown if len(result) == 1]
    if column.column == "workload":
        sizes = {name: size for name, *size in runs.group_by("workload").agg(*_SIZES).iter_rows()}
        telling = [{sizes[name][place] for name in values} for place in range(len(_SIZES))]
        place = next((at for at, result in enumerate(telling) if len(result) == len(values)), 0)
        values = [sizes[name][place] for name in values]
    numeric = [value for value in values if isinstance(value, int | float)]
    return tuple(numeric) if len(set(numeric)) == len(shown) else None
