"""`headway look`: what files of others are, and what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.errors import EXIT_WRONG_INPUT, WrongInputError
from headway.terminal import complain, output, say

if TYPE_CHECKING:
    from headway.look.account import Account, FileContents, FileCurve, Listing

_BARS = " ▁▂▃▄▅▆▇█"


def look(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Any file or directory: a HAR or WARC file, a trace, a qlog, an MPD, an image, a study, results.",
            metavar="FILE...",
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each file, a line each.")
    ] = False,
) -> None:
    """Tell what a file is and holds, and which command takes it."""
    from headway.look.reading import account_of

    is_wrong = False
    for number, file in enumerate(files):
        try:
            account = account_of(file)
        except WrongInputError as error:
            complain(str(error))
            is_wrong = True
            continue
        if as_json:
            say(json.dumps(_document(file, account), ensure_ascii=False))
            continue
        if number:
            say("")
        _print(file, account)
    if is_wrong:
        raise typer.Exit(EXIT_WRONG_INPUT)


def _document(file: Path, account: Account) -> dict[str, Any]:
    from dataclasses import asdict

    identity, content = account.identity, account.content
    values = asdict(content, dict_factory=_plain) if content else None
    return {
        "file": str(file),
        "kind": identity.kind.key,
        "name": str(identity),
        "version": identity.version,
        "maker": identity.maker,
        "content": values,
        "way": account.way,
    }


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a dataclass for JSON, which has no sets."""
    return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in items}


def _print(file: Path, account: Account) -> None:
    say(f"{file}: {account.identity}")
    if account.content:
        _print_content(account.content)
    if account.way:
        say(f"  {account.way}")


def _print_content(content: FileContents) -> None:
    width = max((len(fact.name) for fact in content.facts), default=0)
    for fact in content.facts:
        say(f"  {fact.name:{width}}  {fact.value}")
    if content.curve:
        _print_curve(content.curve)
    for listing in content.listings:
        _print_listing(listing)
    for sentence in content.lacks:
        say(f"  - {sentence}")


def _print_curve(curve: FileCurve) -> None:
    most = max(curve.values, default=0) or 1
    bars = "".join(_BARS[round(value / most * (len(_BARS) - 1))] for value in curve.values)
    say(f"  |{bars}| {curve.name}")
    say(f"  0{curve.until:>{len(bars) + 1}}")


def _print_listing(listing: Listing) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in listing.columns:
        table.add_column(heading, justify="right" if heading in listing.numbers else "left")
    for row in listing.rows:
        table.add_row(*(Text(cell, overflow="ellipsis", no_wrap=True) for cell in row))
    output().print(Padding(table, (1, 0, 0, 2)))
    if listing.left_out:
        say(f"  and {listing.left_out} more")
