"""Shares on the terminal: a row for each flow that competed, then the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.analysis import Analysis
from headway.analysis.estimate_text import reach
from headway.analysis.numbers import significant
from headway.analysis.shares import Shared, Shares, shares
from headway.report.tables.shares import FlowRow, flow_rows

_MOST_ROWS = 48
"""More rows than these are left to the report."""
_LEGEND = (
    "Medians of what flows got while all were there; ± to the farther end of the median's interval. Of several flows "
    "of a name the one that got most in a run is the 1st. Takes, loses, starves, even: by the part of its fair share "
    "that the least had."
)
_STYLES = {"takes": "green", "starves": "green", "loses": "magenta", "starved": "magenta"}


def shares_shown(console: Console, analysis: Analysis) -> Iterator[Table | Text]:
    """The table and its legend; nothing if no flows competed."""
    all_shares = shares(analysis)
    if not all_shares:
        return
    yield Text("")
    yield Text("Who got how much [Mbit/s]", style="bold")
    shown = all_shares
    if _rows(all_shares) > _MOST_ROWS:
        shown = tuple(shares for shares in all_shares if shares.sharing is not Shared.EVEN)
    if not 0 < _rows(shown) <= _MOST_ROWS:
        yield Text(f"The report has a table of {_rows(all_shares)} rows.", style="dim")
        return
    yield _by_cell(shown)
    even = len(all_shares) - len(shown)
    left = f" Left out: {even} of {len(all_shares)}, which are even." if even else ""
    yield Text(f"{_LEGEND}{left}", style="dim")


def _rows(all_shares: tuple[Shares, ...]) -> int:
    return sum(len(list(flow_rows(shares))) for shares in all_shares)


def _by_cell(all_shares: tuple[Shares, ...]) -> Table:
    """A table whose cells are headings, so that names have room."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("contender", overflow="fold")
    table.add_column("flow", overflow="fold")
    for heading in ("goodput", "", "share", "of fair"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for cell, own in groupby(all_shares, key=lambda shares: shares.cell):
        if cell.title:
            table.add_row(Text(cell.title, style="bold"))
        for group in own:
            for place, row in enumerate(flow_rows(group)):
                table.add_row(*_row(group.contender if place == 0 else "", row))
    return table


def _row(contender: str, row: FlowRow) -> tuple[Text, ...]:
    got = row.got
    mbit = significant(got.mbit.median)
    return (
        Text(f"  {contender}"),
        Text(row.flow),
        Text(mbit),
        Text(reach(got.mbit, mbit)),
        Text(f"{got.share.median * 100:.0f} %"),
        Text(f"{got.part.median * 100:.0f} %"),
        Text(row.how, style=_STYLES.get(row.how, "")),
    )
