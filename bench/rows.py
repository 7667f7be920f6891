"""The table that a benchmark prints."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    measured: str
    budget: str


def median_and_range(values: Sequence[float], *, unit: str = "s", digits: int = 2) -> str:
    """As a row shows measurements."""
    middle, least, most = (
        f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return f"{middle} {unit} ({least} to {most})"


def print_rows(rows: Iterable[Row]) -> None:
    """Print the table."""
    table = Table("what", "measured", "budget")
    for row in rows:
        table.add_row(row.what, row.measured, row.budget)
    Console(width=100).print(table)
