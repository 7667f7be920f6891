"""`headway check`: two builds of a program, for those who look at the exit status first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import suggest
from headway.cli.encoding import typed
from headway.cli.options import (
    Jobs,
    Offline,
    Programs,
    Quick,
    Replace,
    Resume,
    StudyName,
    beginning,
)
from headway.cli.study import RESULTS_DIRECTORY
from headway.errors import EXIT_FAILED, WrongInputError
from headway.terminal import Terminal, complain, output, say

if TYPE_CHECKING:
    from headway.instruments.check.reports import CheckReport

_USUAL_TOLERANCE = "1 %"


def check(
    study: StudyName,
    head: Annotated[
        Path,
        typer.Option(
            help="The new build: an executable, an image, a file of programs, or a directory of "
            "results.",
            metavar="BUILD",
        ),
    ],
    base: Annotated[
        Path | None,
        typer.Option(
            help="The build that it is compared with; without one, the head is kept as a base.",
            metavar="BUILD",
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            help="The program whose builds they are: NAME, or server.NAME.",
            metavar="NAME",
            autocompletion=suggest.programs,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the results; default: results/check.", metavar="DIRECTORY"
        ),
    ] = None,
    tolerance: Annotated[
        str,
        typer.Option(help="How much slower the head may be, for example '2 %'.", metavar="SHARE"),
    ] = _USUAL_TOLERANCE,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Repetitions; default: the study's.", metavar="N")
    ] = None,
    quick: Quick = False,
    programs: Programs = None,
    jobs: Jobs = None,
    resume: Resume = False,
    replace: Replace = False,
    offline: Offline = False,
) -> None:
    """Compare two builds of a program, packet by packet.

    Both run over the same seeds. The first packet that differs is named. Exit status 1 if the new one is slower by more
    than the tolerance, or fails.
    """
    # Imported here because statistics take seconds to load.
    from headway.instruments.check.builds import StudySource
    from headway.instruments.check.comparison import BuildCheck, carry_out_check
    from headway.instruments.check.summary import print_check

    where = out or RESULTS_DIRECTORY / "check"
    task = BuildCheck(
        source=StudySource(study, quick, programs, repetitions),
        base=base,
        head=head,
        program=program,
        out=where,
        tolerance=_share(tolerance),
        command=typed(sys.argv[1:]),
        start=beginning(resume=resume, replace=replace),
        jobs=jobs,
    )
    report = carry_out_check(task, Terminal())
    if report is None:
        say(f"There is no base yet. Use this one next time: --base {where / 'head'}")
        return
    if output().is_terminal:
        print_check(output(), report)
    else:
        say(report.markdown().removesuffix("\n"))
    if _complained(where, report):
        raise typer.Exit(EXIT_FAILED)


def _complained(where: Path, report: CheckReport) -> bool:
    """Say what is wrong with the results, and which claims the head does not meet; whether anything fails the check."""
    from headway.analysis.usability import complaints
    from headway.report import Report
    from headway.report.annotations import annotations_wanted, workflow_commands
    from headway.report.claimcases import claim_cases

    sides = [side for side in ("base", "head") if (where / side).is_dir()]
    claims = claim_cases(Report.of(where / "head").analyses) if "head" in sides else []
    if annotations_wanted():
        for line in workflow_commands("Headway", [*report.cases, *claims]):
            say(line)
    unsound = [
        complaint
        for side in sides
        for complaint in complaints(where / side, allow_failures=True, strict=False)
    ]
    broken = [case for case in claims if not case.passes and not case.is_open]
    unmet = [*broken, *(case for case in claims if case.is_open)]
    for complaint in (*unsound, *(f"head: {case.name}: {case.said}" for case in unmet)):
        complain(complaint)
    return bool(not report.passes or unsound or broken)


def _share(text: str) -> float:
    from headway.study.units import Ratio

    try:
        return float(Ratio.parse(text))
    except ValueError as error:
        raise WrongInputError(str(error), where="--tolerance") from None
