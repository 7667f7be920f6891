"""`headway claims`: a study's claims judged by its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.errors import WrongInputError
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
        typer.Option("--out", "-o", help="File of Markdown to write.", metavar="FILE"),
    ] = None,
) -> None:
    """Judge what a paper says by our runs: what holds, what does not, and what is undecided."""
    print_ledger(directory, study, out)


def print_ledger(directory: Path, study: str | None, out: Path | None) -> None:
    """Print a ledger, or write it to a file; by the claims of a study, if one is named."""
    # Statistics take seconds to load.
    from headway.report import Report
    from headway.report.ledger import ledger
    from headway.study.load import load_study

    report = Report.of(directory)
    if study is not None:
        report = report.with_claims_of(load_study(study))
    page = ledger(report.results, report.analyses)
    if out is None:
        output.print(page, markup=False, soft_wrap=True, end="")
        return
    try:
        out.write_text(page)
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {out}") from error
