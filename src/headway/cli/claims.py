"""`headway claims`: a study's claims judged by its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import ResultsDirectory
from headway.cli.reading import reading
from headway.errors import EXIT_FAILED
from headway.terminal import complain, output, say

if TYPE_CHECKING:
    from headway.report import Report


def claims(
    directory: ResultsDirectory,
    study: Annotated[
        str | None,
        typer.Option(
            help="Judge by the claims of this study, a name or a file; default: those that the "
            "results were made with.",
            metavar="STUDY",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Page of Markdown to write, FILE.md; its figure and tables go into FILE/.",
            metavar="FILE",
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            "--junit", help="File to write: each claim as a test, for CI.", metavar="FILE"
        ),
    ] = None,
    assertions: Annotated[
        Path | None,
        typer.Option(
            "--assertions",
            help="File to write: each limit of each claim, as Lighthouse CI writes its assertions.",
            metavar="FILE",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with status 1 if a claim does not hold or is undecided."
        ),
    ] = False,
) -> None:
    """Judge a study's claims by its results.

    Each claim holds, does not hold, or is undecided.
    """
    report = print_ledger(directory, study, out)
    from headway.analysis.usability import unmet_claims
    from headway.report.annotations import annotations_wanted, workflow_commands
    from headway.report.assertions import claims_as_assertions
    from headway.report.claimcases import claim_cases, claims_as_tests

    if junit is not None:
        junit.write_text(claims_as_tests(report.results, report.analyses), encoding="utf-8")
    if assertions is not None:
        assertions.write_text(claims_as_assertions(report.analyses), encoding="utf-8")
    if annotations_wanted():
        for line in workflow_commands("Headway", claim_cases(report.analyses)):
            say(line)
    if strict and (unmet := [*unmet_claims(report.results)]):
        for complaint in unmet:
            complain(complaint)
        raise typer.Exit(EXIT_FAILED)


def print_ledger(directory: Path, study: str | None, out: Path | None) -> Report:
    """Show a ledger, as Markdown if nobody looks, or write it to a file; by the claims of a study, if one is named."""
    with reading(directory):
        from rich.markdown import Markdown

        from headway.records.store import refresh_table
        from headway.report import Report
        from headway.report.ledger import ledger
        from headway.report.results_page import write_results_page
        from headway.study.load import load_study

    refresh_table(directory)
    report = Report.of(directory)
    if study is not None:
        report = report.judged_by(load_study(study))
    if out is not None:
        write_results_page(report, out)
        return report
    page = ledger(report.results, report.analyses)
    if output().is_terminal:
        output().print(Markdown(page, hyperlinks=False))
    else:
        say(page.removesuffix("\n"))
    return report
