"""Checks as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.selftest.check import Check, number


def print_checks(console: Console, checks: Sequence[Check]) -> None:
    """Print a table of checks, path by path, and their total."""
    for path in dict.fromkeys(check.path for check in checks):
        console.print(Text(path, style="bold"), soft_wrap=True)
        console.print(_table([check for check in checks if check.path == path]))
    failed = sum(not check.passed for check in checks)
    if failed:
        console.print(Text(f"{failed} of {len(checks)} checks failed", style="bold red"))
    else:
        console.print(Text(f"all {len(checks)} checks passed", style="bold green"))


def _table(checks: Sequence[Check]) -> Table:
    table = Table(box=None, padding=(0, 2), pad_edge=True)
    table.add_column("check")
    for heading in ("expected", "measured"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    table.add_column("accepted")
    table.add_column("verdict")
    table.add_column("judged by", style="dim", overflow="fold")
    for check in checks:
        table.add_row(
            check.name,
            number(check.expected),
            number(check.measured),
            check.unit,
            check.bounds(),
            Text("pass", style="green") if check.passed else Text("FAIL", style="bold red"),
            check.note,
        )
    return table
