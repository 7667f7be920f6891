"""A table to be read, and how numbers are written in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis import Analysis, Cell
from headway.analysis.numbers import significant
from headway.report.most_telling import telling_cells
from headway.statistics.interval import Interval

NONE = "–"
"""Stands where there is no value."""
_MOST_ROWS = 240
"""A longer table is for a program to read: the page has its most telling rows."""


@dataclass(frozen=True)
class Table:
    """A table to be read.

    Attributes:
        headings: column headings.
        rows: groups of rows that belong together; every row has a text per column.
        labels: number of columns from the left that are words rather than numbers.
        remark: what it leaves out; empty if nothing.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], ...], ...]
    labels: int
    remark: str = ""

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(len(group) for group in self.rows)


def shown_cells(analysis: Analysis, rows_per_cell: int) -> tuple[Cell, ...]:
    """The cells that a table shows: all, or if it were too long those that tell most."""
    return telling_cells(analysis, max(8, _MOST_ROWS // max(1, rows_per_cell)))


def left_out(analysis: Analysis, shown: Sequence[Cell], file: str) -> str:
    """What a table that shows these cells leaves out, and where it is."""
    if len(shown) == len(analysis.cells):
        return ""
    return (
        f"The {len(shown)} of {len(analysis.cells)} cells with the largest differences; {file} "
        "has all."
    )


def level_headings(analysis: Analysis) -> tuple[str, ...]:
    """Headings of the columns that say which cell it is."""
    return tuple(factor.name for factor in analysis.conditions.factors)


def levels(analysis: Analysis, cell: Cell) -> tuple[str, ...]:
    """The texts below ``level_headings``."""
    factors = analysis.conditions.factors
    return tuple(factor.levels[level] for factor, level in zip(factors, cell.levels, strict=True))


def interval_text(interval: Interval | None, digits: int, factor: float = 1.0) -> str:
    """An interval in words."""
    if interval is None:
        return NONE
    if interval.low == interval.high:
        return "all equal"
    low, high = interval.low * factor, interval.high * factor
    return f"{significant(low, digits)} to {significant(high, digits)}"


def number(value: float | None, digits: int) -> str:
    """A number, if there is one."""
    return NONE if value is None else significant(value, digits)


def markdown(table: Table) -> list[str]:
    """A table's lines, its remark below it; none of a table without rows."""
    if not table.rows:
        return []
    rows = [row for group in table.rows for row in group]
    lines = [_line(table.headings), "|" + "---|" * len(table.headings), *map(_line, rows)]
    return [*lines, "", table.remark] if table.remark else lines


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
