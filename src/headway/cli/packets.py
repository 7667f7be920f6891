"""`headway packets`: the packets of a run with a fault, or of one that captured them, and what they carried."""

from __future__ import annotations

from pathlib import Path
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
        names = _run_names(artifacts)
        example = f"runs are called like {names[0]}" if names else ""
        hint = nearest(run, names, then=example) if names else ""
        raise WrongInputError(f"there is no run {run!r}{hint}", where=str(directory))
    result = carried_packets(artifacts / run)
    if not result:
        raise WrongInputError(
            'kept no packets; runs with a fault keep them (with fault = "none", too), and those with capture.packets',
            where=str(artifacts / run),
        )
    for carried_packet in result:
        arrow = "->" if carried_packet.way is Way.UP else "<-"
        mark = "  * the fault" if carried_packet.met else ""
        say(
            f"{carried_packet.at_s * 1e3:>10.3f} ms  {arrow} {carried_packet.number:<4} {carried_packet.bytes:>5} B  {carried_packet.words}{mark}"
        )


def _run_names(artifacts: Path) -> list[str]:
    """The runs that left something, without the self-test."""
    from headway.campaign.session import SELF_TEST_DIRECTORY

    names = {entry.name for entry in artifacts.glob("*")} if artifacts.is_dir() else set()
    return sorted(names - {SELF_TEST_DIRECTORY})
