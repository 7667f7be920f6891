"""`headway claims`: a study's claims judged by its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli.options import ResultsDirectory
from headway.terminal import output, say


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
) -> None:
    """Judge a paper's claims by a study's results.

    Each claim holds, does not hold, or is undecided.
    """
    print_ledger(directory, study, out)


def print_ledger(directory: Path, study: str | None, out: Path | None) -> None:
    """Show a ledger, as Markdown if nobody looks, or write it to a file; by the claims of a study, if one is named."""
    # Statistics and figures take seconds to load.
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
        return
    page = ledger(report.results, report.analyses)
    if output().is_terminal:
        output().print(Markdown(page, hyperlinks=False))
    else:
        say(page.removesuffix("\n"))
