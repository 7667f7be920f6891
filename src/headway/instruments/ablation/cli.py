"""`headway why`: the difference of two contenders taken apart, cause by cause."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.encoding import typed
from headway.cli.options import Choice, Jobs, Offline, StudyName, with_options
from headway.errors import WrongInputError, counted
from headway.terminal import Terminal, output, say

if TYPE_CHECKING:
    from headway.instruments.ablation.document import WhyAnswer

_RESULTS_DIRECTORY = Path("results")


@with_options(Choice)
def why(
    study: StudyName,
    options: Choice,
    cell: Annotated[
        str | None,
        typer.Option(help="The cell, by its name; `headway plan` lists axes.", metavar="NAME"),
    ] = None,
    contender: Annotated[
        str | None,
        typer.Option(help="Who is compared; default: the first comparison.", metavar="NAME"),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="With whom it is compared.", metavar="NAME")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=6, max=1000, help="How often each is carried out.", metavar="N")
    ] = 20,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the runs; default: results/NAME-why.", metavar="DIRECTORY"
        ),
    ] = None,
    jobs: Jobs = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the runs that the directory holds.")
    ] = False,
    offline: Offline = False,
) -> None:
    """Take the difference of two contenders apart, cause by cause.

    Switches one thing after the other at Headway's own endpoints: how much goes with each, and what is left.
    """
    # Statistics take seconds to load.
    from headway.instruments.ablation.session import WhyRequest, pair_of, take_apart

    loaded = options.load(study)
    if options.only and len(options.only) > 1:
        raise WrongInputError("takes one experiment", where="--only")
    only = options.only[0] if options.only else None
    pair = pair_of(loaded, only, cell, contender, against)
    directory = out or _RESULTS_DIRECTORY / f"{loaded.name}-why"
    request = WhyRequest(
        pair=pair,
        study=loaded,
        out=directory,
        command=typed(sys.argv[1:]),
        repetitions=repetitions,
        jobs=jobs,
        replace=replace,
    )
    answer = take_apart(request, Terminal())
    _print(answer)
    _draw(answer, directory)


def _print(answer: WhyAnswer) -> None:
    from rich.table import Table

    from headway.instruments.ablation.document import percent_of

    say(answer.sentence)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("part", "goes with it", "switched first", "switched last"):
        table.add_column(heading)
    for part in (*answer.ordered, answer.whole):
        table.add_row(part.name, part.size, percent_of(part.first), percent_of(part.last))
    output().print(table)
    say(
        f"{counted(answer.seeds, 'seed')}, {counted(answer.sets, 'set')} of causes. The parts multiply to {percent_of(answer.sum_of_parts)}. Switched first "
        "and last differ where causes share what they do."
    )
    if answer.left_out:
        say(f"{answer.left_out} seeds are left out, since a run failed.")


def _draw(answer: WhyAnswer, directory: Path) -> None:
    from headway.instruments.ablation.drawing import waterfall
    from headway.report.encoded import encoded

    picture = waterfall(answer)
    for suffix in ("svg", "png"):
        (directory / f"why.{suffix}").write_bytes(encoded(picture, suffix))
    say(f"\nFigure: {directory / 'why.svg'}; numbers: {directory / 'why.csv'}, why.json")
