"""`headway packets`: the packets of a run with a fault, or of one that captured them, and what they carried."""

from __future__ import annotations

from typing import Annotated

import typer

from headway.cli import suggest
from headway.cli.options import ResultsDirectory
from headway.errors import WrongInputError, nearest
from headway.terminal import say


def packets(
    directory: ResultsDirectory,
    run: Annotated[
        str, typer.Argument(help="Name of a run.", metavar="RUN", autocompletion=suggest.runs)
    ],
) -> None:
    """Show the packets of a run with a fault, or of one that captured them.

    Each packet has the time at which it came, and what it carried.
    """
    from headway.diagnosis.fault import carried_packets
    from headway.records.store import ARTIFACTS
    from headway.records.stranger import check_files, check_runs
    from headway.study.path import Way

    check_files(directory)
    check_runs(directory, [run])
    artifacts = directory / ARTIFACTS
    if not (artifacts / run).is_dir():
        there = sorted(one.name for one in artifacts.glob("*")) if artifacts.is_dir() else []
        known = nearest(run, there) or (f"; runs are called like {there[0]}" if there else "")
        raise WrongInputError(f"there is no run {run!r}{known}", where=str(directory))
    found = carried_packets(artifacts / run)
    if not found:
        raise WrongInputError(
            'kept no packets; runs with a fault keep them (with fault = "none", too), and those with capture.packets',
            where=str(artifacts / run),
        )
    for one in found:
        arrow = "->" if one.way is Way.UP else "<-"
        mark = "  * the fault" if one.met else ""
        say(
            f"{one.at_s * 1e3:>10.3f} ms  {arrow} {one.number:<4} {one.bytes:>5} B  {one.words}{mark}"
        )
