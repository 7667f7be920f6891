"""`headway figure`: one figure of a study's results, for a paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import ResultsDirectory
from headway.errors import WrongInputError
from headway.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.report.figures import Picture

_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(mm|cm|in)\s*")
_LEAST_MM, _MOST_MM = 40.0, 1000.0


def figure(
    directory: ResultsDirectory,
    name: Annotated[
        str | None,
        typer.Option("--figure", help="Which figure; without it, all are listed.", metavar="NAME"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .svg, .pdf, .png, or .csv for its data.",
            metavar="FILE",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(help="Width on paper, as 84mm, 8.4cm or 3.3in; text is of 7.3 points."),
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            help="Show cells that have this title, or this part of it, as 'loss 2 %'; may be given "
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
    """Write one figure of a report, for a paper.

    It may show only some cells, contenders or runs. Without a name, all figures are listed.
    """
    if name and out is None:
        raise WrongInputError("needs a file to write", where="--out")
    if out and not name:
        raise WrongInputError("needs a figure to write", where="--figure")
    width_mm = _width_mm(width) if width else 0.0
    # Statistics and figures take seconds to load.
    from headway.report.encoded import FORMATS, encoded
    from headway.report.wanted import Wanted, picture_named, wanted_pictures

    suffix = out.suffix.removeprefix(".") if out else ""
    if out and suffix not in FORMATS:
        known = ", ".join(f".{one}" for one in FORMATS)
        raise WrongInputError(f"must end in one of {known}", where=f"--out {out}")
    wanted = Wanted(tuple(cell or ()), tuple(contender or ()), tuple(run or ()))
    found = wanted_pictures(directory, wanted)
    if out is None or name is None:
        _print_names(found)
        return
    content = encoded(picture_named(found, name), suffix, width_mm)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {out}") from error


def _print_names(found: Sequence[Picture]) -> None:
    widest = max((len(one.name) for one in found), default=0)
    for one in found:
        runs = f" ({one.of})" if one.of else ""
        say(f"{one.name:<{widest}}  {one.title}{runs}")


def _width_mm(text: str) -> float:
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise WrongInputError(
            "is not a width; write it as 84mm, 8.4cm or 3.3in", where=f"--width {text}"
        )
    found = float(match[1]) * _MM[match[2]]
    if not _LEAST_MM <= found <= _MOST_MM:
        wrong = f"must be {_LEAST_MM:g} to {_MOST_MM:g} mm"
        raise WrongInputError(wrong, where=f"--width {text}")
    return found
