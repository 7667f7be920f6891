"""The table that a benchmark prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    measured: str
    budget: str


def print_rows(rows: Iterable[Row]) -> None:
    """Print the table."""
    table = Table("what", "measured", "budget")
    for row in rows:
        table.add_row(row.what, row.measured, row.budget)
    Console(width=100).print(table)
