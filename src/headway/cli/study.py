"""`headway run`, `reproduce`, `report`, `validate` and `plan`: from a study to its answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import suggest
from headway.cli.claims import print_ledger
from headway.cli.encoding import typed
from headway.cli.options import (
    Choice,
    Cores,
    Execution,
    ResultsDirectory,
    StudyName,
    beginning,
    with_options,
)
from headway.cli.reading import reading
from headway.errors import EXIT_FAILED, HeadwayError, WrongInputError, counted, nearest
from headway.study.gc_pause import loading
from headway.study.library import builtin_names, reproduces
from headway.terminal import Terminal, complain, output, say

# Studies, labs and results take seconds to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.campaign.task import Task
    from headway.planning.runs import Run
    from headway.report import Report
    from headway.study.experiment import Study

RESULTS_DIRECTORY = Path("results")


@with_options(Execution)
def run(
    study: StudyName,
    options: Execution,
    nearby: Annotated[
        bool,
        typer.Option(
            "--nearby",
            help="Then try how far the answer holds, for as long again, or as the study's key nearby says.",
        ),
    ] = False,
) -> None:
    """Carry out a study and report its answer.

    Exit status 1 if a run or the emulation's self-test failed.
    """
    task = _task(study, options)
    faults = _carry_out(task, options)
    _try_nearby(task, options, asked=nearby)
    _end(faults)


@with_options(Execution)
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="Name of a built-in study, for example liu2024.",
            metavar="PAPER",
            autocompletion=suggest.papers,
        ),
    ],
    options: Execution,
    claims: Annotated[
        bool,
        typer.Option("--claims", help="Run nothing: judge the results that are there."),
    ] = False,
) -> None:
    """Run a built-in study; judge a paper's claims, if it has any.

    Our values stand beside the published ones. Exit status 1 if a run or the emulation's self-test failed.
    """
    if paper not in builtin_names():
        papers = ", ".join(name for name in builtin_names() if reproduces(name))
        raise WrongInputError(
            "there is no such study"
            + nearest(paper, builtin_names(), then=f"of papers there are {papers}"),
            where=f"reproduce {paper}",
        )
    if not reproduces(paper):
        raise WrongInputError(
            f"is no paper's study; `headway run {paper}` carries it out", where=f"reproduce {paper}"
        )
    task = _task(paper, options)
    if claims:
        print_ledger(task.out, paper, None)
        return
    faults = _carry_out(task, options, partial(_show_part, paper=paper))
    _try_nearby(task, options)
    _end(faults)


def _try_nearby(task: Task, options: Execution, *, asked: bool = False) -> None:
    """Try the neighbours of what was carried out, if somebody asks for that, or the study does."""
    if asked or task.study.nearby is not None:
        from headway.cli.nearby import try_and_show

        try_and_show(task.out, task.study, options.jobs)


def report(
    directory: ResultsDirectory,
    run: Annotated[
        list[str] | None,
        typer.Option(
            help="Show this run over time; may be given several times.",
            metavar="RUN_ID",
            autocompletion=suggest.runs,
        ),
    ] = None,
) -> None:
    """Write the report of a study's results again."""
    _show(directory, tuple(run or ()))


@with_options(Choice)
def validate(study: StudyName, options: Choice) -> None:
    """Check a study file without running it.

    Its short form is checked, too.
    """
    from headway.planning.traces import trace_lines

    loaded = options.load(study, both=True)
    runs = _planned(loaded, study)
    cells = len({run.cell for run in runs})
    say(f"{study}: {loaded.at_most}{counted(len(runs), 'run')} in {counted(cells, 'cell')}")
    for line in trace_lines(runs):
        say(line)
    _say_files(runs)


@with_options(Choice)
def plan(study: StudyName, options: Choice, jobs: Cores = None) -> None:
    """Show what a study would run, and how long that takes."""
    with loading():
        from headway.campaign.feasibility import MANY_RUNS, lacking_layers
        from headway.cli.plan_tables import print_plan
        from headway.lab.cores import available_cores

    loaded = options.load(study)
    runs = _planned(loaded, study)
    if len(runs) >= MANY_RUNS:
        Terminal().note(f"estimating how long {len(runs):,} runs take")
    print_plan(output(), loaded, runs, labs=jobs or len(available_cores()))
    _say_files(runs)
    if lacking := lacking_layers(runs):
        names = " ".join(lacking)
        say(
            f"Fetched or compiled first: {', '.join(lacking)} (`headway image build {names}` does it now)."
        )


def _say_files(runs: Sequence[Run]) -> None:
    """What files a study names, as `headway look` tells it."""
    from headway.look.named import named_files

    for file, described in named_files(runs).items():
        say(f"{file}: {described}")


def _planned(study: Study, name: str) -> Sequence[Run]:
    """The runs of a study; says what a reader of its results would have to know."""
    with loading():
        from headway.campaign.feasibility import all_remarks, checked_plan

    runs = checked_plan(study, name, Terminal())
    for text in all_remarks(study, runs):
        complain(f"note: {text}")
    return runs


def _task(study: str, options: Execution) -> Task:
    with loading():
        from headway.campaign.task import Task

    start = beginning(resume=options.resume or options.retry_failed, replace=options.replace)
    loaded = options.load(study)
    parts = [loaded.name, *(options.only or ()), *(["quick"] if options.quick else [])]
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry-failed")]
    go_on = shlex.join(["headway", *(word for word in words if word != "--replace"), "--resume"])
    return Task(
        study=loaded,
        name=study,
        out=options.out or RESULTS_DIRECTORY / "-".join(parts),
        command=typed(words),
        go_on=f"`{go_on}` goes on",
        start=start,
        retry_failed=options.retry_failed,
        keep_going=options.keep_going,
        jobs=options.jobs,
        cluster=options.cluster,
    )


def _carry_out(
    task: Task, options: Execution, show: Callable[[Path], object] | None = None
) -> Sequence[str]:
    """Returns why the study has failed; empty if it has not."""
    with loading():
        from headway.campaign.session import conduct
        from headway.columns import Status
        from headway.records.store import each_record

    conduct(task, Terminal(), show or _show)
    if not any(core.status is Status.OK or core.fault_met for core in each_record(task.out)):
        reason = next(each_record(task.out)).error
        raise HeadwayError(f"no run succeeded; the first reason: {reason}")
    from headway.analysis.usability import complaints
    from headway.report import Report
    from headway.report.annotations import annotations_wanted, workflow_commands
    from headway.report.claimcases import claim_cases

    if options.strict and annotations_wanted():
        for line in workflow_commands("Headway", claim_cases(Report.of(task.out).analyses)):
            say(line)
    return complaints(task.out, allow_failures=options.allow_failures, strict=options.strict)


def _end(faults: Sequence[str]) -> None:
    """End the command as its study has ended; the last lines say why."""
    for fault in faults:
        complain(fault)
    if faults:
        raise typer.Exit(EXIT_FAILED)


def _show_part(directory: Path, paper: str) -> None:
    """Show the results of a paper's study, and what they leave to the whole of it."""
    from headway.cli.paper import left_to_the_whole
    from headway.study.load import load_study

    report = _show(directory)
    for line in left_to_the_whole(report.results, load_study(paper)):
        say(line)


def _show(directory: Path, runs: tuple[str, ...] = ()) -> Report:
    with reading(directory):
        from headway.records.store import refresh_table
        from headway.report import Report

    refresh_table(directory)
    report = Report.of(directory)
    report.check_runs(runs)
    report.print_summary(output())
    page = report.write(runs)
    say(f"\nReport: {page}")
    return report
