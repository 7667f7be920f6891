"""`headway conformance`: whether congestion control does what its specification says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.encoding import typed
from headway.cli.options import Jobs, Offline, Replace, Resume, beginning
from headway.errors import WrongInputError
from headway.terminal import Terminal, note, output, say

# Cases and labs take a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.instruments.conformance.case import ConformanceCase
    from headway.instruments.conformance.senders import TestedSender
    from headway.instruments.conformance.verdict import ConformanceVerdict

_RESULT_FILE, _PAGE_FILE = "result.json", "index.html"


def conformance(
    program: Annotated[
        str,
        typer.Option("--program", "-p", help="Servers, separated by commas.", metavar="NAME,..."),
    ] = "headway-server",
    cases: Annotated[
        str,
        typer.Option(
            "--cases",
            "-c",
            help="Families (newreno, cubic, hystart++, bbr, prague), names of cases, or a file with cases, separated by commas; "
            "default: all.",
            metavar="CASE,...",
        ),
    ] = "",
    protocol: Annotated[
        str,
        typer.Option(
            help="h3 for the program's QUIC, h2 for the kernel's TCP; default: both.",
            metavar="NAME,...",
        ),
    ] = "",
    controller: Annotated[
        str,
        typer.Option(
            help="Congestion control that is tried in all cases; default: that of each case's family.",
            metavar="NAME",
        ),
    ] = "",
    programs: Annotated[
        Path | None,
        typer.Option(
            help="File of your own programs; default: programs.toml here.", metavar="FILE"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=1, help="Seed of everything random.", metavar="N")] = 1,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Directory for the results.", metavar="DIRECTORY"),
    ] = Path("conformance"),
    json: Annotated[
        Path | None,
        typer.Option("--json", "-j", help="Another file for result.json.", metavar="FILE"),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep logs and captures of runs that pass, too.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the cases, and try nothing.")
    ] = False,
    jobs: Jobs = None,
    resume: Resume = False,
    replace: Replace = False,
    offline: Offline = False,
) -> None:
    """Try whether congestion control does what its specification says.

    Each case has a path of its own, in virtual time, and a check with numbers and a picture. Exit status 1 if a case
    fails.
    """
    from headway.instruments.conformance.catalogue import chosen_cases
    from headway.instruments.conformance.senders import PROTOCOLS, senders
    from headway.instruments.conformance.session import Session
    from headway.study.outsidefile import programs_beside, read_programs

    chosen = chosen_cases(_words(cases), "--cases")
    if listed:
        _print_cases(chosen)
        return
    protocols = _words(protocol) or list(PROTOCOLS)
    for word in protocols:
        if word not in PROTOCOLS:
            raise WrongInputError(
                f"no protocol {word!r}; there are {', '.join(PROTOCOLS)}", where="--protocol"
            )
    outside = read_programs(programs) if programs else programs_beside(Path.cwd())
    tried = senders(_words(program), protocols, controller, outside)
    session = Session(
        out=out,
        seed=seed,
        command=typed(sys.argv[1:]),
        watcher=Terminal(),
        keeps_all=keep,
        jobs=jobs,
        outside=outside,
        start=beginning(resume=resume, replace=replace),
    )
    verdicts = []
    for sender in tried:
        note(sender.title)
        verdicts += session.carry_out(sender, chosen)
    _conclude(chosen, tried, verdicts, out, json or out / _RESULT_FILE, seed)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _print_cases(cases: Sequence[ConformanceCase]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("case", "what must be seen", "source"):
        table.add_column(heading)
    for case in cases:
        table.add_row(case.name, case.description, case.source)
    output().print(table)


def _conclude(
    cases: Sequence[ConformanceCase],
    tried: Sequence[TestedSender],
    verdicts: Sequence[ConformanceVerdict],
    out: Path,
    file: Path,
    seed: int,
) -> None:
    """Write the results, print the table and what fails, and end with status 1 if anything does."""
    from headway.instruments.conformance.page import page
    from headway.instruments.conformance.results import result_json
    from headway.instruments.conformance.verdict import ConformanceResult

    out.mkdir(parents=True, exist_ok=True)
    file.write_text(result_json(cases, verdicts, seed), encoding="utf-8")
    (out / _PAGE_FILE).write_text(page(cases, verdicts, seed), encoding="utf-8")
    _print(cases, tried, verdicts)
    for verdict in verdicts:
        if verdict.result is ConformanceResult.FAILED:
            say(f"✕ {verdict.case}, {verdict.sender}: {verdict.reason}")
    counts = {
        result: sum(verdict.result is result for verdict in verdicts)
        for result in ConformanceResult
    }
    text = ", ".join(f"{number} {result.value}" for result, number in counts.items())
    say(f"{text}. {file}, {out / _PAGE_FILE}")
    if counts[ConformanceResult.FAILED]:
        raise typer.Exit(1)


def _print(
    cases: Sequence[ConformanceCase],
    tried: Sequence[TestedSender],
    verdicts: Sequence[ConformanceVerdict],
) -> None:
    """A row for each case, a column for each sender."""
    from rich.table import Table

    results = {(verdict.case, verdict.sender): verdict.result for verdict in verdicts}
    # Names of cases are to be read whole, also beside many senders.
    table = Table(header_style="bold", padding=0)
    table.add_column("case", no_wrap=True)
    for sender in tried:
        table.add_column(sender.title, justify="center", overflow="fold")
    for case in cases:
        symbols = [results[case.name, sender.title].symbol for sender in tried]
        table.add_row(case.name, *symbols)
    output().print(table)
