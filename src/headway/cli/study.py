"""`headway run`, `reproduce`, `report`, `validate` and `plan`: from a study to its answer."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Annotated

import typer

from headway.campaign.checks import checked_plan
from headway.campaign.cores import available_cores
from headway.campaign.task import Task
from headway.cli.terminal import Terminal, output
from headway.errors import HeadwayError, WrongInputError
from headway.results.schema import Status
from headway.results.store import Start, read_records, refresh_table
from headway.study.load import builtin_names, load_study

StudyName = Annotated[
    str, typer.Argument(help="A study file, or the name of a built-in study.", metavar="STUDY")
]
Quick = Annotated[bool, typer.Option("--quick", help="The study's short form.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Labs at a time; default: one per core.", metavar="N")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the results that the directory holds.")
]
RetryFailed = Annotated[
    bool,
    typer.Option("--retry-failed", help="Go on, and run again what failed or timed out."),
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Remove the results that the directory holds.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler whose workers run the labs, as tcp://host:8786; "
        "'local' starts workers on this machine.",
        metavar="ADDRESS",
    ),
]
RESULTS_DIRECTORY = Path("results")


def run(
    study: StudyName,
    out: Annotated[Path, typer.Option(help="Directory for the results.")],
    quick: Quick = False,
    jobs: Jobs = None,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    replace: Replace = False,
    cluster: Cluster = None,
) -> None:
    """Carry out a study and report its answer."""
    task = _task(study, out, quick=quick)
    start = _start(resume=resume or retry_failed, replace=replace)
    _carry_out(
        with_changes(task, start=start, retry_failed=retry_failed, jobs=jobs, cluster=cluster)
    )


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="Name of a built-in study, as liu2024.", metavar="PAPER")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results; default: results/PAPER.")
    ] = None,
    quick: Quick = False,
    jobs: Jobs = None,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    replace: Replace = False,
    cluster: Cluster = None,
) -> None:
    """Carry out a paper's experiments and set our values beside the published ones."""
    if paper not in builtin_names():
        raise WrongInputError(
            f"no such paper; there is {', '.join(builtin_names())}", where=f"reproduce {paper}"
        )
    directory = out or RESULTS_DIRECTORY / (f"{paper}-quick" if quick else paper)
    run(paper, directory, quick, jobs, resume, retry_failed, replace, cluster)


def report(
    directory: Annotated[Path, typer.Argument(help="Directory of a study's results.")],
    run: Annotated[
        list[str] | None,
        typer.Option(help="Show this run over time; may be given several times.", metavar="RUN_ID"),
    ] = None,
) -> None:
    """Write the report of a study's results again."""
    refresh_table(directory)
    _show(directory, tuple(run or ()))


def validate(study: StudyName, quick: Quick = False) -> None:
    """Check a study file without running it."""
    runs = checked_plan(load_study(study, quick=quick), study)
    cells = len({run.cell for run in runs})
    output.print(f"{study}: {len(runs)} runs in {cells} cells", markup=False)


def plan(study: StudyName, quick: Quick = False, jobs: Jobs = None) -> None:
    """Show what a study would do, and how long that would take on this machine."""
    from headway.cli.plan_tables import print_plan

    loaded = load_study(study, quick=quick)
    runs = checked_plan(loaded, study)
    print_plan(output, loaded, runs, labs=jobs or len(available_cores()))


def _task(study: str, out: Path, *, quick: bool) -> Task:
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry-failed")]
    command = shlex.join(["headway", *words])
    go_on = shlex.join(["headway", *(word for word in words if word != "--replace"), "--resume"])
    return Task(
        study=load_study(study, quick=quick),
        name=study,
        out=out,
        command=command,
        go_on=f"`{go_on}` goes on",
    )


def _start(*, resume: bool, replace: bool) -> Start:
    if resume and replace:
        raise WrongInputError(
            "one goes on with the results, the other removes them", where="--resume --replace"
        )
    if resume:
        return Start.RESUME
    return Start.REPLACE if replace else Start.NEW


def _carry_out(task: Task) -> None:
    # Imported here so that commands which carry out nothing start sooner.
    from headway.campaign.session import conduct

    conduct(task, Terminal())
    _show(task.out)
    records = read_records(task.out)
    if not any(record.status is Status.OK for record in records):
        raise HeadwayError(f"no run succeeded; the first reason: {records[0].error}")


def _show(directory: Path, runs: tuple[str, ...] = ()) -> None:
    # Statistics and figures take seconds to load.
    from headway.report import Report

    report = Report.of(directory)
    report.print_summary(output)
    page = report.write(runs)
    output.print(f"\nReport: {page}", markup=False, soft_wrap=True)
