"""What the census reads on this machine: exports of tables, each shown to DuckDB as a view with the table's types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from headway.census.asked import Key
from headway.census.schema import SCHEMAS, Schema, schema_of
from headway.errors import WrongInputError, nearest

_FORMATS = {
    ".parquet": "read_parquet({file})",
    ".csv": "read_csv({file}, header = true, all_varchar = true)",
    ".csv.gz": "read_csv({file}, header = true, all_varchar = true)",
}
_TYPES = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "json": "JSON",
}
_HEADERS = 'STRUCT("name" VARCHAR, "value" VARCHAR)[]'
_CRAWL_IN_NAME = re.compile(r"(\d{4})_(\d\d)_(\d\d)_(desktop|mobile)")
_PAYLOADS = frozenset({"page", "url", "payload"})


@dataclass(frozen=True)
class Export:
    """An export.

    Attributes:
        file: of Parquet or CSV.
        schema: of its table.
        select: SQL of DuckDB that reads it, with the table's columns and types.
    """

    file: Path
    schema: Schema
    select: str


def look(connection: duckdb.DuckDBPyConnection, file: Path, keys: frozenset[Key]) -> Export:
    """Look at an export.

    Args:
        connection: to any database.
        file: the export.
        keys: that questions are asked by.

    Raises:
        WrongInputError: it cannot be read, is of another table, lacks a column, or is empty.
    """
    read = _read(file)
    types = _columns(connection, file, read)
    schema = _schema(file, frozenset(types))
    columns = {name: f'"{name}"' for name in schema.columns if name in types}
    if schema.dated:
        columns = _from_name(file) | columns
    missing = [name for name in schema.needed(keys) if name not in columns]
    if missing:
        raise WrongInputError(_missing(missing, schema, list(types)), where=str(file))
    shown = [
        f'{_typed(columns.get(name, "NULL"), kind, types.get(name, ""))} AS "{name}"'
        for name, kind in schema.columns.items()
    ]
    select = f"SELECT {', '.join(shown)} FROM {read}"
    _check_rows(connection, file, select)
    return Export(file, schema, select)


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _read(file: Path) -> str:
    """What reads it in SQL of DuckDB."""
    for suffix, reader in _FORMATS.items():
        if file.name.lower().endswith(suffix):
            return reader.format(file=literal(str(file)))
    raise WrongInputError(f"is neither Parquet nor CSV ({', '.join(_FORMATS)})", where=str(file))


def _columns(connection: duckdb.DuckDBPyConnection, file: Path, read: str) -> dict[str, str]:
    if not file.is_file():
        raise WrongInputError("there is no such file", where=str(file))
    if not file.stat().st_size:
        raise WrongInputError("is empty", where=str(file))
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()
    except duckdb.Error as error:
        raise WrongInputError(f"cannot be read: {_told(error)}", where=str(file)) from None
    return {str(name): str(kind) for name, kind, *_ in described}


def _schema(file: Path, columns: frozenset[str]) -> Schema:
    found = schema_of(columns)
    if found:
        return found
    tables = " or ".join(one.name for one in SCHEMAS)
    if columns >= _PAYLOADS:
        what = "is of the per-date tables `requests`, which have one text for each request"
        raise WrongInputError(
            f"{what}; export `summary_requests` of that date, or `crawl.requests`", where=str(file)
        )
    shown = ", ".join(sorted(columns)[:6])
    raise WrongInputError(
        f"is no export of {tables}: it has neither `summary` and `response_headers` nor "
        f"`respHttpVersion`, but {shown}",
        where=str(file),
    )


def _from_name(file: Path) -> dict[str, str]:
    """Date and client as a table's name says them, which an export of it usually bears."""
    found = _CRAWL_IN_NAME.search(file.name)
    if not found:
        return {}
    year, month, day, client = found.groups()
    return {"date": literal(f"{year}-{month}-{day}"), "client": literal(client)}


def _missing(missing: Sequence[str], schema: Schema, there: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    told = f"lacks {names} of {schema.name}{nearest(missing[0], there)}"
    if schema.dated and {"date", "client"} & set(missing):
        told += "; a name such as 2021_09_01_mobile.csv says date and client, too"
    return told


def _typed(column: str, kind: str, given: str) -> str:
    """A column with the table's type; JSON and header fields may have been exported as text."""
    if kind in _TYPES:
        return f"CAST({column} AS {_TYPES[kind]})"
    if given == "VARCHAR":
        return f"CAST(CAST({column} AS JSON) AS {_HEADERS})"
    if "element" in given and column != "NULL":
        return f"list_transform({column}, lambda one: one.element)"
    return f"CAST({column} AS {_HEADERS})"


def _check_rows(connection: duckdb.DuckDBPyConnection, file: Path, select: str) -> None:
    try:
        first = connection.execute(f"SELECT * FROM ({select}) LIMIT 1").fetchone()
    except duckdb.Error as error:
        raise WrongInputError(f"cannot be read: {_told(error)}", where=str(file)) from None
    if first is None:
        raise WrongInputError("has no rows", where=str(file))


def _told(error: duckdb.Error) -> str:
    """The first line of what DuckDB says."""
    return str(error).strip().splitlines()[0]
