"""Exports that the census reads on this machine: tables, each shown to DuckDB as a view with the table's types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from headway.errors import WrongInputError, nearest
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.refusing import of_other_kind
from headway.instruments.census.asked import Key
from headway.instruments.census.schema import SCHEMAS, Schema, schema_of

# As BigQuery writes it; guessing would look for other signs in texts that are full of quotes and commas.
_CSV = """read_csv({file}, header = true, all_varchar = true, delim = ',', quote = '"', escape = '"')"""
_FORMATS = {
    ".parquet": "read_parquet({file})",
    ".csv": _CSV,
    ".csv.gz": _CSV,
}
_TYPES = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "json": "JSON",
}
_HEADERS = 'STRUCT("name" VARCHAR, "value" VARCHAR)[]'
_PATTERN = re.compile(r"[*?\[]")
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
    from_name = _from_name(file) if schema.dated else {}
    missing = [name for name in schema.needed(keys) if name not in types | from_name]
    if missing:
        raise WrongInputError(_missing(missing, schema, list(types)), where=str(file))
    shown = [
        f'{from_name.get(name) or _typed(file, name, kind, types.get(name))} AS "{name}"'
        for name, kind in schema.columns.items()
    ]
    select = f"SELECT {', '.join(shown)} FROM {read}"
    _check_rows(connection, file, schema, select)
    return Export(file, schema, select)


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _read(file: Path) -> str:
    """What reads it in SQL of DuckDB."""
    for suffix, reader in _FORMATS.items():
        if file.name.lower().endswith(suffix):
            # DuckDB takes names for patterns.
            return reader.format(file=literal(_PATTERN.sub(r"[\g<0>]", str(file))))
    raise of_other_kind(
        identify(file), file, f"an export of the HTTP Archive ({', '.join(_FORMATS)})"
    )


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
    result = schema_of(columns)
    if result:
        return result
    tables = " or ".join(schema.name for schema in SCHEMAS)
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
    match = _CRAWL_IN_NAME.search(file.name)
    if not match:
        return {}
    year, month, day, client = match.groups()
    return {"date": f"DATE '{year}-{month}-{day}'", "client": literal(client)}


def _missing(missing: Sequence[str], schema: Schema, there: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    text = f"lacks {names} of {schema.name}{nearest(missing[0], there)}"
    if schema.dated and {"date", "client"} & set(missing):
        text += "; a name such as 2021_09_01_mobile.csv says date and client, too"
    return text


def _typed(file: Path, name: str, kind: str, given: str | None) -> str:
    """A column with the table's type; JSON and header fields may have been exported as text."""
    if given is None:
        return f"CAST(NULL AS {_TYPES.get(kind, _HEADERS)})"
    if kind in _TYPES:
        return f'CAST("{name}" AS {_TYPES[kind]})'
    if given == "VARCHAR":
        return f'CAST(CAST("{name}" AS JSON) AS {_HEADERS})'
    shape = given.replace('"', "")
    for begin, listed in _LISTS.items():
        if shape.startswith(begin):
            return f"CAST({listed.format(column=name)} AS {_HEADERS})"
    raise WrongInputError(
        f"`{name}` is {shape}, not fields with `name` and `value`: another version of the schema",
        where=str(file),
    )


_LISTS = {
    "STRUCT(name VARCHAR, value VARCHAR)[]": '"{column}"',
    "STRUCT(element STRUCT(name VARCHAR, value VARCHAR))[]": 'list_transform("{column}", lambda one: one.element)',
    "STRUCT(list STRUCT(element STRUCT(name VARCHAR, value VARCHAR))[])": 'list_transform("{column}".list, lambda one: one.element)',
}
"""How Parquet files have an array of structures, as DuckDB sees it, and how its elements are got at."""


def _check_rows(
    connection: duckdb.DuckDBPyConnection, file: Path, schema: Schema, select: str
) -> None:
    """That there are rows, and that the first ones say which version they came by."""
    begin = f"(SELECT * FROM ({select}) LIMIT {_FIRST_ROWS})"
    sql = f"SELECT count(*), count({schema.protocol}) FROM {begin}"
    try:
        ((rows, value),) = connection.execute(sql).fetchall()
    except duckdb.Error as error:
        raise WrongInputError(f"cannot be read: {_told(error)}", where=str(file)) from None
    if not rows:
        raise WrongInputError("has no rows", where=str(file))
    if not value:
        raise WrongInputError(
            f"none of the first {rows} rows has {schema.protocol_told}: another version of the schema",
            where=str(file),
        )


_FIRST_ROWS = 1000


def _told(error: duckdb.Error) -> str:
    """The first line of what DuckDB says."""
    return str(error).strip().splitlines()[0]
