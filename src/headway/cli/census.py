"""`headway census`: who announces and who uses which version of HTTP, by the HTTP Archive's crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.census.asked import Asked, Dialect, Question, keys_of, months_of
from headway.census.installed import check_installed
from headway.errors import WrongInputError
from headway.terminal import output

_PIPED_WIDTH = 200


def census(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Exports of `crawl.requests` or `summary_requests` (.parquet, .csv), or `sample`: "
            "made data, to try it.",
            metavar="FILE",
        ),
    ] = None,
    question: Annotated[Question, typer.Option(help="What to count.")] = Question.ADOPTION,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="What to tell apart: month, client, rank, provider, server, cdn; default: "
            "month,client.",
            metavar="KEYS",
        ),
    ] = None,
    month: Annotated[
        list[str] | None,
        typer.Option(help="Only these months, as 2024-06,2025-06.", metavar="MONTHS"),
    ] = None,
    secondary: Annotated[
        bool, typer.Option("--secondary", help="Count other pages than home pages, too.")
    ] = False,
    sql: Annotated[
        Dialect | None, typer.Option(help="Print the question as this engine's SQL instead.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="Table of BigQuery, such as httparchive.summary_requests.2021_09_01_mobile; "
            "default: httparchive.crawl.requests.",
            metavar="TABLE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .csv, .parquet or .json.", metavar="FILE"),
    ] = None,
) -> None:
    """Count who announces and who uses HTTP/3, by the HTTP Archive."""
    asked = Asked(question, keys_of(by or ["month,client"]), months_of(month or []), secondary)
    check_installed()
    # ibis takes half a second to load.
    from rich.console import Console

    from headway.census import engine
    from headway.census.sample import SAMPLE, sample_file
    from headway.census.shown import as_json as json_of
    from headway.census.shown import check_writable, shown, write

    found = [sample_file() if str(file) == SAMPLE else file for file in files or []]
    if sql is Dialect.BIGQUERY:
        if found:
            raise WrongInputError("BigQuery reads tables: --table", where=str(files and files[0]))
        print(engine.sql_for_bigquery(asked, table or []), end="")
        return
    if table:
        raise WrongInputError("is of BigQuery; add --sql bigquery", where=f"--table {table[0]}")
    if not found:
        raise WrongInputError("name a file, or `sample`", where="headway census")
    if sql:
        print(engine.sql_for_files(asked, found), end="")
        return
    if out:
        check_writable(out)
    answer = engine.answer(asked, found)
    if out:
        write(asked, answer, out)
    if as_json:
        print(json_of(asked, answer))
    elif not out:
        # A line a row for whoever searches in it; only a terminal has a width to keep to.
        terminal = output()
        console = terminal if terminal.is_terminal else Console(width=_PIPED_WIDTH, highlight=False)
        console.print(shown(asked, answer, console.width))
