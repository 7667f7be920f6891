"""An answer as a file: its rows, or a figure of them, by the ending of the file's name."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from headway.errors import WrongInputError
from headway.instruments.census import figure
from headway.instruments.census.answers import Answer, as_json
from headway.instruments.census.asked import Asked

_ROWS = (".csv", ".parquet", ".json")


def check_writable(asked: Asked, file: Path) -> None:
    """Whether the answer can be written to a file of this name.

    Raises:
        WrongInputError: its ending says no format, its directory is not there, or the answer has no figure.
    """
    where = f"--out {file}"
    if file.suffix not in (*_ROWS, *figure.SUFFIXES):
        *others, last = (*_ROWS, *figure.SUFFIXES)
        raise WrongInputError(f"must end in {', '.join(others)} or {last}", where=where)
    if not file.parent.is_dir():
        raise WrongInputError("there is no such directory", where=where)
    if file.suffix in figure.SUFFIXES:
        figure.check_drawable(asked, where)


def write(asked: Asked, answer: Answer, file: Path) -> None:
    """Write the answer, with all columns, or its figure.

    Raises:
        WrongInputError: the file cannot be written, or the figure has too many panels.
    """
    try:
        if file.suffix in figure.SUFFIXES:
            figure.write_figure(asked, answer, file)
        else:
            _write_rows(asked, answer, file)
    except OSError as error:
        raise WrongInputError(
            f"cannot be written: {error.strerror}", where=f"--out {file}"
        ) from None


def _write_rows(asked: Asked, answer: Answer, file: Path) -> None:
    if file.suffix == ".json":
        file.write_text(as_json(asked, answer) + "\n", encoding="utf-8")
        return
    frame = pl.DataFrame(
        answer.rows, schema=list(answer.columns), orient="row", infer_schema_length=None
    )
    if file.suffix == ".csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
