"""`headway calibrate`: knobs searched until a study's runs agree with a target."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.changes import parsed_changes
from headway.cli.options import Jobs, StudyName
from headway.errors import EXIT_FAILED, HeadwayError, WrongInputError
from headway.terminal import complain, note, output

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from headway.instruments.calibrate.calibration_runs import Tryout
    from headway.instruments.calibrate.search import Calibrated, KnobRange, Residuals, Values

_MATTERS = 0.01
"""A knob whose quarter changes the distance by less does not matter."""


def calibrate(
    study: StudyName,
    target: Annotated[
        Path,
        typer.Option(
            help="What to reach: a CSV file (at_s,goodput_mbit or metric,value), or results of bulk flows.",
            metavar="FILE|RESULTS",
        ),
    ],
    knobs: Annotated[
        list[str],
        typer.Option(
            help="A knob and its range, such as server.knobs.max_window=50..500; may be given several times.",
            metavar="KEY=LOW..HIGH",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Directory for the runs.", metavar="DIR")],
    contender: Annotated[
        str | None,
        typer.Option(help="Which contender of the study is calibrated.", metavar="NAME"),
    ] = None,
    target_contender: Annotated[
        str | None,
        typer.Option(help="Which contender of the target's results.", metavar="NAME"),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Change a key of the study; may be given several times.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--runs", min=10, help="Values to try at most.", metavar="N")
    ] = 150,
    jobs: Jobs = None,
) -> None:
    """Search knobs until a study's runs agree with a target.

    Says which knobs matter, and how near the target is if it cannot be reached.
    """
    # Statistics take seconds to load.
    from headway.instruments.calibrate.calibration_runs import FAR, Tryout, read_tables
    from headway.instruments.calibrate.search import KnobRange, Search
    from headway.instruments.calibrate.target import read_target

    ranges = tuple(map(KnobRange.parse, knobs))
    if len({knob_range.key for knob_range in ranges}) < len(ranges):
        raise WrongInputError("names a knob twice", where="--knobs")
    wanted = read_target(target, target_contender)
    tables, base = read_tables(study, parsed_changes(changes or []), contender)
    command = shlex.join(["headway", *sys.argv[1:]])
    tryout = Tryout(tables, base, ranges, wanted, out, jobs, command)
    tryout.check()
    calibrated = Search(ranges, partial(_tried, tryout), most).run()
    if calibrated.distance >= FAR:
        raise HeadwayError(
            f"there are no values whose runs all ended well and measured what the target is of; see {out}"
        )
    _print(calibrated, ranges)
    if not calibrated.is_reached:
        _complain(calibrated, tryout)
        raise typer.Exit(EXIT_FAILED)


def _tried(
    tryout: Tryout, known: Collection[Values], wanted: Sequence[Values]
) -> Sequence[Residuals]:
    """Differences of values, beside those that are known."""
    from headway.campaign.watcher import SilentWatcher
    from headway.instruments.calibrate.search import distance

    values = tryout.measure(known, wanted, SilentWatcher())
    nearest = min(map(distance, values))
    note(
        f"{len(known) + len(wanted)} tried; of the last {len(wanted)} the nearest is {nearest:.1%} away"
    )
    return values


def _print(calibrated: Calibrated, ranges: Sequence[KnobRange]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("knob", "value", "range", "moved by a quarter"):
        table.add_column(heading)
    for knob, value, grown in zip(ranges, calibrated.values, calibrated.sensitivity, strict=True):
        spans = ", ".join(knob.words) or f"{knob.low} to {knob.high}"
        table.add_row(knob.key, str(value), spans, _moved(grown))
    output().print(table)
    output().print(
        f"The runs are {calibrated.distance:.1%} away from the target; {calibrated.tried} tried."
    )


def _moved(grown: float | None) -> str:
    if grown is None:
        return "not tried"
    if abs(grown) < _MATTERS:
        return "does not matter"
    return f"{grown * 100:+.1f} points away"


def _complain(calibrated: Calibrated, tryout: Tryout) -> None:
    """Say how near the target was, and why no nearer, as far as that shows."""
    from headway.instruments.calibrate.search import named

    record = tryout.runs()[named(tryout.knobs, calibrated.values)][0]
    complain(
        f"the target is not reached: the nearest is {calibrated.distance:.1%} away; "
        f"{tryout.target.farthest(record.model_dump())}"
    )
    ends = [
        f"{knob.name} {value}"
        for knob, value in zip(tryout.knobs, calibrated.values, strict=True)
        if knob.is_end(value)
    ]
    why = (
        f"{', '.join(ends)} is at the end of its range, which may be too narrow"
        if ends
        else "no range ends there, so something else than these knobs differs"
    )
    complain(why)
