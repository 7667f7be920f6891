"""`headway nearby`: how far the sentences of an answer hold, by what stands nearest around them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import suggest
from headway.cli.encoding import typed
from headway.cli.options import Choice, Jobs, Offline, with_options
from headway.errors import WrongInputError
from headway.study.neighbourhood import AS_STATED, ArchivedNeighbourhood
from headway.terminal import Terminal, note, output, say

if TYPE_CHECKING:
    from headway.study.experiment import Study

_RESULTS_DIRECTORY = Path("results")


@with_options(Choice)
def nearby(
    study: Annotated[
        str,
        typer.Argument(
            help="Directory of a study's results; or a study, which is carried out first.",
            metavar="STUDY|RESULTS",
            autocompletion=suggest.studies,
        ),
    ],
    options: Choice,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for a study's results; default: results/NAME.", metavar="DIRECTORY"
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Carry out this many runs at most.", metavar="N")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Take this long at most, by what labs take; default: as long as the study took.",
            metavar="MINUTES",
        ),
    ] = None,
    axes: Annotated[
        list[str] | None,
        typer.Option(
            help="Vary this alone; may be given several times. docs/nearby.md lists all axes.",
            metavar="AXIS",
            autocompletion=suggest.nearby_axes,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave this axis out; may be given several times.",
            metavar="AXIS",
            autocompletion=suggest.nearby_axes,
        ),
    ] = None,
    jobs: Jobs = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove what was tried before, and begin again.")
    ] = False,
    offline: Offline = False,
) -> None:
    """Try how far an answer holds.

    Varies what stands nearest around the cells that its sentences rest on, one thing at a time.
    """
    told_neighbourhood = ArchivedNeighbourhood(runs, minutes, axes, without, prefix="--")
    told_neighbourhood.in_place_of(None)  # what is wrong is wrong before the study is carried out
    directory, loaded = _results(study, options, out, jobs)
    try_and_show(directory, loaded, jobs, told_neighbourhood, replace=replace)


def try_and_show(
    directory: Path,
    study: Study | None,
    jobs: int | None,
    told_neighbourhood: ArchivedNeighbourhood = AS_STATED,
    *,
    replace: bool = False,
) -> None:
    """Try the neighbours of results, print what was found, and write the report again.

    Args:
        directory: of the results.
        study: that they are of; as their manifest states it if None.
        jobs: labs at a time; one per core if None.
        told_neighbourhood: what takes the place of what the study says of its neighbours.
        replace: whether what was tried before is removed.
    """
    # Statistics take seconds to load.
    from headway.nearby.session import NearbyRequest, try_nearby
    from headway.records.manifest import read_manifest
    from headway.report import write_report
    from headway.report.neighbours import print_nearby

    stated = study or ((manifest := read_manifest(directory)) and manifest.study)
    request = NearbyRequest(
        results=directory,
        command=typed(sys.argv[1:]),
        wanted=told_neighbourhood.in_place_of(stated.nearby if stated else None),
        jobs=jobs,
        replace=replace,
    )
    answer = try_nearby(request, Terminal(), study)
    print_nearby(output(), answer)
    say(f"\nReport: {write_report(directory)}")


def _results(
    study: str, options: Choice, out: Path | None, jobs: int | None
) -> tuple[Path, Study | None]:
    """The results that are meant, of a study after it is carried out."""
    from headway.records.manifest import read_manifest

    directory = Path(study)
    if directory.is_dir():
        if out is not None or options.quick or options.only or options.changes or options.programs:
            raise WrongInputError(
                "is a directory of results, whose study is what it is: leave out --out, --quick, --only, --set and "
                "--programs",
                where=study,
            )
        return directory, None
    loaded = options.load(study)
    parts = [loaded.name, *(options.only or ()), *(["quick"] if options.quick else [])]
    directory = out or _RESULTS_DIRECTORY / "-".join(parts)
    manifest = read_manifest(directory) if directory.exists() else None
    if manifest is None or not manifest.complete:
        _carry_out(loaded, study, directory, jobs)
    else:
        note(f"{directory} has the study's results; its neighbours are tried")
    return directory, loaded


def _carry_out(loaded: Study, name: str, directory: Path, jobs: int | None) -> None:
    from headway.campaign.session import conduct
    from headway.campaign.task import Task
    from headway.records.store import Start

    task = Task(
        study=loaded,
        name=name,
        out=directory,
        command=typed(["run", name, "--out", str(directory)]),
        go_on="the same command goes on",
        start=Start.RESUME,
        keep_going=True,
        jobs=jobs,
    )
    conduct(task, Terminal())
