"""Tables of published values: CSV files beside a study."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from headway.errors import WrongInputError
from headway.study.published import GONE, Published
from headway.study.validation_messages import in_words

_FIELDS = {field.alias or name for name, field in Published.model_fields.items()} - {"where"}
_NEEDED = {"contender", "value", "source"}


def read_published(file: Path) -> list[Published]:
    """The values of a file.

    Its header names the fields of a published value, as far as they are given; every other column
    is an axis, whose values make ``where``. Empty fields are not given. Lines that begin with # are
    comments.

    Raises:
        WrongInputError: it cannot be read, a column is missing, or a line is no published value;
            the message names the file, the line and the column.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInputError(f"cannot be read: {error}", where=str(file)) from None
    reader = csv.reader("" if line.startswith("#") else line for line in lines)
    rows = [(reader.line_num, row) for row in reader if row]
    header = rows[0][1] if rows else []
    if missing := _NEEDED - set(header):
        raise WrongInputError(f"no column {', '.join(sorted(missing))}", where=str(file))
    if "at" in header:
        raise WrongInputError(GONE, where=f"{file}: at")
    return [_value(header, row, f"{file}:{number}") for number, row in rows[1:]]


def _value(header: Sequence[str], row: Sequence[str], where: str) -> Published:
    if len(row) != len(header):
        raise WrongInputError("the line has more or fewer fields than the header", where=where)
    given = {name: text for name, text in zip(header, row, strict=True) if text}
    texts = {name: text for name, text in given.items() if name in _FIELDS}
    axes = {name: text for name, text in given.items() if name not in _FIELDS}
    try:
        return Published.model_validate({**texts, "where": axes})
    except ValidationError as error:
        first = error.errors()[0]
        column = ".".join(map(str, first["loc"]))
        raise WrongInputError(
            in_words(first), where=f"{where}: {column}" if column else where
        ) from None
