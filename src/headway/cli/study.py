"""`headway run`, `reproduce`, `report`, `validate` and `plan`: from a study to its answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Annotated

import typer

from headway.campaign.checks import MANY_RUNS, all_remarks, checked_plan
from headway.campaign.task import Task
from headway.cli.changes import parsed_changes
from headway.cli.claims import print_ledger
from headway.cli.encoding import typed
from headway.columns import Status
from headway.errors import EXIT_FAILED, HeadwayError, WrongInputError, counted, nearest
from headway.lab.cores import available_cores
from headway.planning.runs import Run
from headway.records.store import Start, read_records, refresh_table
from headway.study.experiment import Study
from headway.study.load import builtin_names, load_study
from headway.study.outsidefile import read_programs
from headway.terminal import Terminal, complain, output

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
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Go on even if every run of a contender fails.")
]
AllowFailures = Annotated[
    bool, typer.Option("--allow-failures", help="Exit with status 0 although some runs failed.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with status 1 if a published value is missed.")
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
Programs = Annotated[
    Path | None,
    typer.Option(help="File of programs from outside; default: programs.toml beside the study."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        help="This experiment of the study; may be given several times.", metavar="EXPERIMENT"
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Another value of a key, as server.congestion_control=bbr; may be given several times.",
        metavar="KEY=VALUE",
    ),
]
RESULTS_DIRECTORY = Path("results")


def run(
    study: StudyName,
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results; default: results/NAME.")
    ] = None,
    quick: Quick = False,
    only: Only = None,
    changes: Changes = None,
    programs: Programs = None,
    jobs: Jobs = None,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    keep_going: KeepGoing = False,
    replace: Replace = False,
    cluster: Cluster = None,
    allow_failures: AllowFailures = False,
    strict: Strict = False,
) -> None:
    """Carry out a study and report its answer.

    Exit status 1 if a run or the emulation's self-test failed.
    """
    task = with_changes(
        _task(study, out, quick=quick, programs=programs, only=only, changes=changes),
        start=start(resume=resume or retry_failed, replace=replace),
        retry_failed=retry_failed,
        keep_going=keep_going,
        jobs=jobs,
        cluster=cluster,
    )
    _carry_out(task, allow_failures=allow_failures, strict=strict)


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="Name of a built-in study, as liu2024.", metavar="PAPER")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results; default: results/PAPER.")
    ] = None,
    quick: Quick = False,
    only: Only = None,
    changes: Changes = None,
    programs: Programs = None,
    jobs: Jobs = None,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    keep_going: KeepGoing = False,
    replace: Replace = False,
    cluster: Cluster = None,
    allow_failures: AllowFailures = False,
    strict: Strict = False,
    claims: Annotated[
        bool,
        typer.Option("--claims", help="Carry out nothing: judge the results that there are."),
    ] = False,
) -> None:
    """Carry out a paper's experiments, set our values beside the published ones, judge its claims.

    Exit status 1 if a run or the emulation's self-test failed.
    """
    if paper not in builtin_names():
        raise WrongInputError(
            f"no such paper{nearest(paper, builtin_names())}; there is {', '.join(_papers())}",
            where=f"reproduce {paper}",
        )
    if not reproduces(load_study(paper)):
        raise WrongInputError(
            f"is no paper's study; `headway run {paper}` carries it out", where=f"reproduce {paper}"
        )
    results = _task(paper, out, quick=quick, only=only, changes=changes).out
    if claims:
        print_ledger(results, paper, None)
        return
    run(
        study=paper,
        out=out,
        quick=quick,
        only=only,
        changes=changes,
        programs=programs,
        jobs=jobs,
        resume=resume,
        retry_failed=retry_failed,
        keep_going=keep_going,
        replace=replace,
        cluster=cluster,
        allow_failures=allow_failures,
        strict=strict,
    )
    output.print()
    print_ledger(results, None, None)


def reproduces(study: Study) -> bool:
    """Whether a study has something that was said elsewhere, beside which its own results are put."""
    return any(one.claims or one.published for one in study.experiments)


def _papers() -> list[str]:
    return [name for name in builtin_names() if reproduces(load_study(name))]


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


def validate(
    study: StudyName,
    quick: Quick = False,
    only: Only = None,
    changes: Changes = None,
    programs: Programs = None,
) -> None:
    """Check a study file without running it."""
    loaded = loaded_study(study, quick=quick, programs=programs, only=only, changes=changes)
    runs = checked_plan(loaded, study, Terminal())
    _remark(loaded, runs)
    cells = len({run.cell for run in runs})
    told = f"{study}: {loaded.at_most}{counted(len(runs), 'run')} in {counted(cells, 'cell')}"
    output.print(told, markup=False)


def plan(
    study: StudyName,
    quick: Quick = False,
    only: Only = None,
    changes: Changes = None,
    programs: Programs = None,
    jobs: Jobs = None,
) -> None:
    """Show what a study would do, and how long that would take on this machine."""
    from headway.cli.plan_tables import print_plan

    loaded = loaded_study(study, quick=quick, programs=programs, only=only, changes=changes)
    runs = checked_plan(loaded, study, Terminal())
    _remark(loaded, runs)
    if len(runs) >= MANY_RUNS:
        Terminal().note(f"estimating how long {len(runs):,} runs take")
    print_plan(output, loaded, runs, labs=jobs or len(available_cores()))


def loaded_study(
    study: str,
    *,
    quick: bool,
    programs: Path | None,
    only: Sequence[str] | None = None,
    changes: Sequence[str] | None = None,
) -> Study:
    """A study or some experiments of it, changed, with the programs from outside that a file declares."""
    declared = None if programs is None else read_programs(programs)
    others = parsed_changes(changes or ())
    loaded = load_study(study, quick=quick, programs=declared, changes=others)
    return loaded.only(only) if only else loaded


def _remark(study: Study, runs: Sequence[Run]) -> None:
    """Tell what a reader of the study's results would have to know."""
    for text in all_remarks(study, runs):
        complain(f"note: {text}")


def _task(
    study: str,
    out: Path | None,
    *,
    quick: bool,
    programs: Path | None = None,
    only: Sequence[str] | None = None,
    changes: Sequence[str] | None = None,
) -> Task:
    loaded = loaded_study(study, quick=quick, programs=programs, only=only, changes=changes)
    usual = RESULTS_DIRECTORY / "-".join([loaded.name, *(only or ()), *(["quick"] * quick)])
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--retry-failed")]
    command = typed(words)
    go_on = shlex.join(["headway", *(word for word in words if word != "--replace"), "--resume"])
    return Task(
        study=loaded,
        name=study,
        out=out or usual,
        command=command,
        go_on=f"`{go_on}` goes on",
    )


def start(*, resume: bool, replace: bool) -> Start:
    """What is to be done with results that are there."""
    if resume and replace:
        raise WrongInputError(
            "one goes on with the results, the other removes them", where="--resume --replace"
        )
    if resume:
        return Start.RESUME
    return Start.REPLACE if replace else Start.NEW


def _carry_out(task: Task, *, allow_failures: bool, strict: bool) -> None:
    # Imported here so that commands which carry out nothing start sooner.
    from headway.campaign.session import conduct

    conduct(task, Terminal())
    _show(task.out)
    records = read_records(task.out)
    if not any(record.status is Status.OK or record.fault_met for record in records):
        raise HeadwayError(f"no run succeeded; the first reason: {records[0].error}")
    from headway.analysis.soundness import complaints

    found = complaints(task.out, allow_failures=allow_failures, strict=strict)
    for complaint in found:
        complain(complaint)
    if found:
        raise typer.Exit(EXIT_FAILED)


def _show(directory: Path, runs: tuple[str, ...] = ()) -> None:
    # Statistics and figures take seconds to load.
    from headway.report import Report

    report = Report.of(directory)
    report.check_runs(runs)
    report.print_summary(output)
    page = report.write(runs)
    output.print(f"\nReport: {page}", markup=False, soft_wrap=True)
