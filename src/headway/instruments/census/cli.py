"""`headway census`: who announces and who uses which version of HTTP, by the HTTP Archive's crawl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.errors import WrongInputError, counted
from headway.foreign.console import escaping_console
from headway.instruments.census.asked import Asked, Dialect, Question, keys_of, months_of
from headway.instruments.census.installed import check_installed
from headway.terminal import note, output, say

if TYPE_CHECKING:
    from rich.table import Table

_PIPED_WIDTH = 200


def census(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Exports of `crawl.requests` or `summary_requests` (.parquet, .csv), HAR files "
            "(.har), directories of results with pages, or `sample`: made data, to try it.",
            metavar="FILE",
        ),
    ] = None,
    question: Annotated[Question, typer.Option(help="What to count.")] = Question.ADOPTION,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Keys of the rows: month, client, rank, provider, server, cdn; default: "
            "month,client.",
            metavar="KEYS",
        ),
    ] = None,
    month: Annotated[
        list[str] | None,
        typer.Option(help="Only these months, such as 2024-06,2025-06.", metavar="MONTHS"),
    ] = None,
    secondary: Annotated[
        bool, typer.Option("--secondary", help="Count other pages than home pages, too.")
    ] = False,
    published: Annotated[
        bool,
        typer.Option("--published", help="Show published shares instead, and ours of the files."),
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
    as_crawl: Annotated[
        Path | None,
        typer.Option(
            help="Write HAR files and results as `crawl.requests` instead, FILE.parquet.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .csv, .parquet or .json.", metavar="FILE"),
    ] = None,
) -> None:
    """Count who announces and who uses HTTP/3, by the HTTP Archive."""
    inputs = files or []
    asked = Asked(question, keys_of(by or ["month,client"]), months_of(month or []), secondary)
    if table and sql is not Dialect.BIGQUERY:
        raise WrongInputError("is of BigQuery; add --sql bigquery", where=f"--table {table[0]}")
    if not inputs and not published and sql is not Dialect.BIGQUERY:
        raise WrongInputError("name a file to count in, or `sample`")
    if as_crawl:
        _write_as_crawl(inputs, as_crawl)
    elif sql:
        _print_sql(asked, sql, inputs, table or [])
    elif published:
        _print_published(asked, inputs, as_json)
    else:
        _answer(asked, inputs, as_json, out)


def _answer(asked: Asked, inputs: list[Path], as_json: bool, out: Path | None) -> None:
    check_installed()
    # ibis takes half a second to load.
    from headway.instruments.census import answers, files
    from headway.instruments.census.engine import answer
    from headway.instruments.census.inputs import as_exports

    if out:
        files.check_writable(asked, out)
    with as_exports(inputs, note) as exports:
        result = answer(asked, exports)
    if out:
        files.write(asked, result, out)
    if as_json:
        say(answers.as_json(asked, result))
    elif not out:
        _print(lambda width: answers.shown(asked, result, width))


def _print_published(asked: Asked, inputs: list[Path], as_json: bool) -> None:
    from headway.instruments.census import published

    beside: dict[published.PublishedShare, float] = {}
    if inputs:
        check_installed()
        from headway.instruments.census.engine import answer
        from headway.instruments.census.inputs import as_exports

        with as_exports(inputs, note) as exports:
            beside = published.ours(asked.months, lambda month: answer(month, exports))
    if as_json:
        say(published.published_json(beside))
    else:
        _print(lambda _: published.published_table(beside))


def _print_sql(asked: Asked, sql: Dialect, inputs: list[Path], tables: list[str]) -> None:
    check_installed()
    from headway.instruments.census import engine
    from headway.instruments.census.inputs import as_exports, made_first

    if sql is Dialect.BIGQUERY:
        if inputs:
            raise WrongInputError("BigQuery reads tables: --table", where=str(inputs[0]))
        say(engine.sql_for_bigquery(asked, tables))
        return
    if other := made_first(inputs):
        raise WrongInputError("is no table; --as-crawl makes it one", where=str(other))
    with as_exports(inputs, note) as exports:
        say(engine.sql_for_files(asked, exports))


def _write_as_crawl(inputs: list[Path], file: Path) -> None:
    from headway.instruments.census.inputs import write_as_crawl

    where = f"--as-crawl {file}"
    if file.suffix != ".parquet":
        raise WrongInputError("must end in .parquet", where=where)
    if not file.parent.is_dir():
        raise WrongInputError("there is no such directory", where=where)
    say(f"{file}: {counted(write_as_crawl(inputs, file, note), 'response')}")


def _print(shown: Callable[[int], Table]) -> None:

    # A line a row for whoever searches in it; only a terminal has a width to keep to.
    terminal = output()
    console = (
        terminal if terminal.is_terminal else escaping_console(width=_PIPED_WIDTH, highlight=False)
    )
    console.print(shown(console.width))
