"""Checks as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.selftest.check import Check, number

_ROOM_FOR_NOTES = 120
"""Width of a terminal that has room for how each check was judged."""


def print_verdict(console: Console, checks: Sequence[Check]) -> None:
    """Print whether the emulation is exact, and each check that failed."""
    failed = [check for check in checks if not check.passed]
    if failed:
        text, style = (
            f"The emulation is wrong: {len(failed)} of {len(checks)} checks failed.",
            "red",
        )
    else:
        text, style = f"The emulation is exact: all {len(checks)} checks passed.", "green"
    console.print(Text(text, style=f"bold {style}"))
    for check in failed:
        console.print(Text(f"FAIL {check}; judged by: {check.note}", style="red"), soft_wrap=True)


def print_checks(console: Console, checks: Sequence[Check]) -> None:
    """Print a table of checks, path by path."""
    notes = console.width >= _ROOM_FOR_NOTES
    for path in dict.fromkeys(check.path for check in checks):
        console.print(Text(path, style="bold"), soft_wrap=True)
        console.print(_table([check for check in checks if check.path == path], notes))


def _table(checks: Sequence[Check], notes: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=True)
    table.add_column("  check")
    for heading in ("expected", "measured"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    table.add_column("accepted")
    table.add_column("verdict")
    if notes:
        table.add_column("judged by", style="dim", overflow="fold")
    for check in checks:
        table.add_row(
            f"  {check.name}",
            number(check.expected),
            number(check.measured),
            check.unit,
            check.bounds(),
            Text("pass", style="green") if check.passed else Text("FAIL", style="bold red"),
            *([check.note] if notes else []),
        )
    return table
