"""The account of a table: its columns, and between what they vary."""

from __future__ import annotations

import csv
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.files import read_regular
from headway.foreign.kinds.beginning import beginning
from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing

_MOST_COLUMNS = 12
_MOST_BYTES = 64 << 20


def content(path: Path, _identity: Identity) -> FileContents:
    """What a table holds, with or without names of its columns.

    Raises:
        WrongInputError: it cannot be read, or is no table.
    """
    data = read_regular(path)
    if len(data) > _MOST_BYTES:
        raise WrongInputError(f"has more than {_MOST_BYTES >> 20} MiB", where=str(path))
    rows = _rows(beginning(data).data.decode(errors="replace"))
    has_names = any(_number(cell) is None for cell in rows[0])
    names = rows[0] if has_names else [f"column {number}" for number in range(1, len(rows[0]) + 1)]
    body = rows[1:] if has_names else rows
    columns = [[row[place] for row in body if place < len(row)] for place in range(len(names))]
    described = tuple(
        (name, *_described(cells)) for name, cells in zip(names, columns, strict=True)
    )
    return FileContents(
        (FileFact("rows", str(len(body))), FileFact("columns", str(len(names)))),
        (
            Listing(
                ("column", "first", "least", "most"),
                described[:_MOST_COLUMNS],
                frozenset(("least", "most")),
                max(len(described) - _MOST_COLUMNS, 0),
            ),
        ),
    )


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    mark = max(",;\t ", key=lambda character: min(line.count(character) for line in lines[:20]))
    if mark == " ":
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]


def _described(cells: list[str]) -> tuple[str, str, str]:
    numbers = [number for cell in cells if (number := _number(cell)) is not None]
    if not numbers:
        return cells[0] if cells else "", "", ""
    return cells[0], f"{min(numbers):.10g}", f"{max(numbers):.10g}"


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
