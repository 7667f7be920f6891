"""The summary of a check on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.instruments.check.reports import (
    HOW_TO_READ,
    CheckReport,
    difference,
    fault_sentence,
    first_flight,
    first_packet,
    interval,
    middle,
)
from headway.instruments.check.verdict import CheckedCell, CheckOutcome

_STYLES = {
    CheckOutcome.FASTER: "green",
    CheckOutcome.SLOWER: "magenta",
    CheckOutcome.FAILED: "red",
    CheckOutcome.UNMEASURED: "red",
}


def print_check(console: Console, report: CheckReport) -> None:
    """Print a table of all that was compared, and where packets begin to differ; legible at 80 columns."""
    verdict = ("passed", "bold green") if report.passes else ("FAILED", "bold red")
    console.print(Text.assemble(verdict, (f"  {report.headline}", "bold")))
    console.print()
    console.print(_table(report))
    differing = [checked_cell for checked_cell in report.judged if checked_cell.differing]
    if differing:
        console.print()
        console.print(Text("Where packets begin to differ", style="bold"))
        for cell in differing:
            text = "; ".join([*first_flight(cell), first_packet(cell)])
            console.print(Text(f"- {cell.name}: {text}"))
    if report.failures:
        console.print()
        console.print(Text("Pairs of runs with a failed run", style="bold red"))
        for cell, alike in report.failures:
            console.print(Text(f"- {cell.name}: {alike}", style="red" if alike.is_new else ""))
    if report.worse:
        console.print()
        console.print(Text("Faults that cost the head more", style="bold red"))
        for fault in report.worse:
            console.print(Text(f"- {fault_sentence(fault)}"))
    console.print()
    console.print(Text(f"{HOW_TO_READ} {report.limit}", style="dim"))


def _table(report: CheckReport) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("")
    table.add_column("", overflow="fold")
    for heading in ("base", "head", "[%]", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=heading != "95 % interval")
    for checked_cell in report.judged:
        fails = checked_cell.fails(report.tolerance)
        table.add_row(
            Text(
                f"{checked_cell.outcome}{' !' if fails else ''}",
                style=_STYLES.get(checked_cell.outcome, ""),
            ),
            checked_cell.name or report.study,
            *_values(checked_cell),
        )
    return table


def _values(checked_cell: CheckedCell) -> tuple[str, ...]:
    same = checked_cell.outcome in (CheckOutcome.IDENTICAL, CheckOutcome.SAME)
    base, head = middle(checked_cell)
    return (
        (base, head, "=", "")
        if same
        else (base, head, difference(checked_cell), interval(checked_cell))
    )
