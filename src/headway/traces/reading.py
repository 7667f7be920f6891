"""A trace that a study names: of Mahimahi's form, or a table of rates that can be read in one way only."""

from __future__ import annotations

from pathlib import Path

from headway.errors import WrongInputError
from headway.traces.imported import TableReading, import_trace
from headway.traces.mahimahi import TimeUnit, read_opportunities
from headway.traces.text import trace_lines


def read_trace(file: Path, unit: TimeUnit | None = None) -> tuple[int, ...]:
    """Read the times of delivery opportunities in milliseconds.

    Args:
        file: the trace.
        unit: of its times, if they are none of milliseconds or look so; of tables, none.

    Raises:
        WrongInputError: it cannot be read, is no trace, or can be read in several ways.
    """
    if unit is not None or not _is_table(file):
        return read_opportunities(file, unit)
    try:
        return import_trace(file, TableReading()).opportunities_ms
    except WrongInputError as error:
        raise WrongInputError(
            f"not a trace of Mahimahi's form (a whole number of milliseconds a line), but a table: {error.message}: "
            "`headway trace import` takes these options, and writes a trace",
            where=error.where,
        ) from None


def _is_table(file: Path) -> bool:
    """Whether the first line that says something has several columns, or JSON begins with it."""
    lines = (line.strip() for line in trace_lines(file))
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first[:1] in ("[", "{") or len(first.replace(",", " ").replace(";", " ").split()) > 1
