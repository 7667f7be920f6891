"""`headway trace`: network traces of others as traces of Mahimahi's form, which studies name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headway.cli.group import CommandGroup, OneCommand
from headway.errors import WrongInputError
from headway.terminal import say

app = typer.Typer(
    cls=CommandGroup,
    help="Read tables of rates as traces, for paths of studies.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Stay a group of commands, though there is only one."""


@app.command("import", cls=OneCommand)
def import_command(
    file: Annotated[
        Path, typer.Argument(help="A table of rates, or times of packets.", metavar="FILE")
    ],
    out: Annotated[Path, typer.Option(help="Write the trace there.", metavar="TRACE")],
    column: Annotated[
        str | None,
        typer.Option(
            help="Take this column for the rate: its name, or its number from 1.", metavar="COLUMN"
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Unit of the rate (Mbit/s, kbit/s, B/s), of bytes an interval (B, kB), or of a column of times (s, ms, us, ns).",
            metavar="UNIT",
        ),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Take this column for the time.", metavar="COLUMN")
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(help="Unit of the time: s, ms, us or ns.", metavar="UNIT")
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            help="How long each row lasts, as '1 s', instead of a time.", metavar="DURATION"
        ),
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="Take the rows with this value only; may be given several times.",
            metavar="COLUMN=VALUE",
        ),
    ] = None,
) -> None:
    """Read a table of rates, say what was understood, and write a trace.

    A rate holds from its row's time to the next one's.
    """
    from headway.study.units import Duration, Rate, UnitError
    from headway.traces.account import trace_account
    from headway.traces.imported import TableReading, import_trace
    from headway.traces.mahimahi import TimeUnit

    if time_unit is not None and time_unit not in list(TimeUnit):
        raise WrongInputError(f"{time_unit!r} is none of s, ms, us, ns", where="--time-unit")
    try:
        interval_ms = None if interval is None else Duration.parse(interval).ms
    except UnitError as error:
        raise WrongInputError(str(error), where="--interval") from None
    if interval_ms is not None and interval_ms <= 0:
        raise WrongInputError("must be above 0", where="--interval")
    chosen = dict(row.partition("=")[::2] for row in rows or ())
    reading = TableReading(
        column, unit, time, TimeUnit(time_unit) if time_unit else None, interval_ms, chosen
    )
    times, understood = import_trace(file, reading)
    account = trace_account(times)
    try:
        out.write_text("".join(f"{time}\n" for time in times), encoding="utf-8")
    except OSError as error:
        raise WrongInputError(f"cannot be written: {error.strerror}", where=str(out)) from None
    mean, highest = Rate(account.mean_bit_per_s), Rate(account.highest_bit_per_s)
    say(f"{file}: {understood}.")
    say(
        f"{out}: {mean} in the mean over {account.length_ms / 1000:g} s, at most {highest} over a second; longest gap "
        f"{account.longest_gap_ms / 1000:g} s."
    )
    say(f"In a study: path.rate = {{ trace = {json.dumps(str(out))} }}")
