"""`headway claims`: a study's claims judged by its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.records.store import refresh_table
from headway.terminal import output


def claims(
    directory: Annotated[
        Path, typer.Argument(help="Directory of a study's results.", metavar="RESULTS")
    ],
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
    """Judge what a paper says by our runs: what holds, what does not, and what is undecided."""
    print_ledger(directory, study, out)


def print_ledger(directory: Path, study: str | None, out: Path | None) -> None:
    """Show a ledger, as Markdown if nobody looks, or write it to a file; by the claims of a study, if one is named."""
    # Statistics and figures take seconds to load.
    from rich.markdown import Markdown

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
    if output.is_terminal:
        output.print(Markdown(page, hyperlinks=False))
    else:
        output.print(page, markup=False, soft_wrap=True, end="")
