"""`headway figure`: one figure or table of a study's results, for a paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import ResultsDirectory
from headway.cli.reading import reading
from headway.errors import WrongInputError
from headway.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headway.report.single_outputs import WantedParts

_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(mm|cm|in)\s*")
_LEAST_MM, _MOST_MM = 40.0, 1000.0


def figure(
    directory: ResultsDirectory,
    name: Annotated[
        str | None,
        typer.Option(
            "--figure", help="Which figure or table; without it, all are listed.", metavar="NAME"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .svg, .pdf, .png, or .csv for its data; of a table .csv or .md.",
            metavar="FILE",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(help="Width on paper, such as 84mm, 8.4cm or 3.3in; text is of 7.3 points."),
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            help="Show cells that have this title, or this part of it, such as 'loss 2 %'; may be given "
            "several times.",
            metavar="TITLE",
        ),
    ] = None,
    contender: Annotated[
        list[str] | None,
        typer.Option(help="Show this contender; may be given several times.", metavar="NAME"),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="Show this run over time; may be given several times.", metavar="RUN_ID"),
    ] = None,
) -> None:
    """Write one figure or table of a report, for a paper.

    It may show only some cells, contenders or runs. Without a name, all are listed.
    """
    if name and out is None:
        raise WrongInputError("needs a file to write", where="--out")
    if out and not name:
        raise WrongInputError("needs a figure to write", where="--figure")
    width_mm = _width_mm(width) if width else 0.0
    with reading(directory):
        from headway.report.encoded import FORMATS, encoded
        from headway.report.single_outputs import TABLE_FORMATS, Wanted, WantedTable, chosen, named

    suffix = out.suffix.removeprefix(".") if out else ""
    _check_suffix(out, dict.fromkeys((*FORMATS, *TABLE_FORMATS)))
    wanted_parts = chosen(
        directory, Wanted(tuple(cell or ()), tuple(contender or ()), tuple(run or ()))
    )
    if out is None or name is None:
        _print_names(wanted_parts)
        return
    output = named((*wanted_parts.pictures, *wanted_parts.tables), name)
    if isinstance(output, WantedTable):
        _check_suffix(out, TABLE_FORMATS)
        content = output.encoded(suffix)
    else:
        _check_suffix(out, FORMATS)
        content = encoded(output, suffix, width_mm)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {out}") from error


def _check_suffix(out: Path | None, known: Iterable[str]) -> None:
    if out and out.suffix.removeprefix(".") not in known:
        reason = ", ".join(f".{text}" for text in known)
        raise WrongInputError(f"must end in one of {reason}", where=f"--out {out}")


def _print_names(wanted_parts: WantedParts) -> None:
    listed = {
        picture.name: f"{picture.title}{f' ({picture.of})' if picture.of else ''}"
        for picture in wanted_parts.pictures
    }
    listed |= {table.name: f"{table.title} (table)" for table in wanted_parts.tables}
    widest = max(map(len, listed), default=0)
    for name, title in listed.items():
        say(f"{name:<{widest}}  {title}")


def _width_mm(text: str) -> float:
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise WrongInputError(
            "is not a width; write it as 84mm, 8.4cm or 3.3in", where=f"--width {text}"
        )
    value = float(match[1]) * _MM[match[2]]
    if not _LEAST_MM <= value <= _MOST_MM:
        wrong = f"must be {_LEAST_MM:g} to {_MOST_MM:g} mm"
        raise WrongInputError(wrong, where=f"--width {text}")
    return value
