"""Tables of published values: CSV files beside a study."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError

_FIELDS = ("contender", "against", "metric", "at", "value", "unit", "source", "why")
_NEEDED = {"contender", "value", "source"}


def read_published(file: Path) -> list[dict[str, Any]]:
    """The values of a file as a study's tables ``[[published]]``.

    Its header names the fields of a published value, as far as they are given; every other column
    is an axis, whose values make ``where``. Empty fields are not given. Lines that begin with # are
    comments.

    Raises:
        WrongInputError: it cannot be read, or a column or value is missing.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInputError(f"cannot be read: {error}", where=str(file)) from None
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    if missing := _NEEDED - set(rows.fieldnames or ()):
        raise WrongInputError(f"no column {', '.join(sorted(missing))}", where=str(file))
    return [_table(row, file) for row in rows]


def _table(row: dict[Any, Any], file: Path) -> dict[str, Any]:
    if None in row or None in row.values():
        begin = next(iter(row.values()))
        raise WrongInputError(
            f"the line that begins with {begin!r} has more or fewer fields than the header",
            where=str(file),
        )
    given = {field: row[field] for field in _FIELDS if row.get(field)}
    where = {axis: value for axis, value in row.items() if axis not in _FIELDS and value}
    try:
        return {**given, "value": float(row["value"]), "where": where}
    except ValueError:
        raise WrongInputError(f"{row['value']!r} is not a number", where=str(file)) from None
