"""Asking: DuckDB over files on this machine, or SQL for it and for BigQuery."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import ibis
import ibis.expr.types as ir

from headway.errors import HeadwayError, WrongInputError
from headway.instruments.census.answers import Answer
from headway.instruments.census.asked import Asked, Dialect, Key, span
from headway.instruments.census.exports import Export, literal, look
from headway.instruments.census.facts import facts
from headway.instruments.census.questions import ask
from headway.instruments.census.schema import CRAWL, SUMMARY, Schema

_MEMORY = "2500MB"
"""What DuckDB may take before it puts aside on disk; it takes some more than it counts."""
_DATED_TABLE = re.compile(r"(?:.*\.)?summary_requests\.(\d{4})_(\d\d)_(\d\d)_(desktop|mobile)$")
_DATE = re.compile(r"\d{4}_\d\d_\d\d_")
_TABLE = re.compile(r"([\w-]+\.){1,2}\w+")
BIGQUERY_TABLE = "httparchive.crawl.requests"


def answer(asked: Asked, files: Sequence[Path]) -> Answer:
    """Ask files, with all cores that this process may use.

    Raises:
        WrongInputError: of a file that is no export, or if none has a row that is asked for.
    """
    with TemporaryDirectory(prefix="headway-census-") as spill, duckdb.connect() as connection:
        connection.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        connection.execute(f"SET temp_directory = {literal(spill)}")
        connection.execute("SET preserve_insertion_order = false")
        exports = _exports(connection, asked, files)
        for view in _views(exports):
            connection.execute(view)
        try:
            cursor = connection.execute(_sql(_expression(asked, _tables(exports)), Dialect.DUCKDB))
            result = Answer(
                tuple(value[0] for value in cursor.description or ()), cursor.fetchall()
            )
        except duckdb.OutOfMemoryException:
            raise HeadwayError(
                f"the answer takes more memory than {_MEMORY}: ask by fewer keys, or month by month"
            ) from None
        except duckdb.Error as error:
            where = ", ".join(str(export.file) for export in exports)
            reason = str(error).strip().splitlines()[0]
            raise WrongInputError(f"cannot be read: {reason}", where=where) from None
    if not result.rows:
        raise WrongInputError(_nothing(asked))
    return result


def sql_for_files(asked: Asked, files: Sequence[Path]) -> str:
    """The same as SQL of DuckDB: a view for each table, and the question."""
    with duckdb.connect() as connection:
        exports = _exports(connection, asked, files)
    views = "".join(f"{view};\n" for view in _views(exports))
    return f"{views}{_sql(_expression(asked, _tables(exports)), Dialect.DUCKDB)};"


def sql_for_bigquery(asked: Asked, tables: Sequence[str]) -> str:
    """The same as SQL of BigQuery.

    Args:
        asked: with months, unless all tables are of one crawl each, since `crawl.requests` answers no others.
        tables: names of them, such as ``httparchive.crawl.requests``.

    Raises:
        WrongInputError: no month is asked for.
    """
    pairs = [_bigquery_table(name, asked) for name in tables or [BIGQUERY_TABLE]]
    if not asked.months and any(not schema.dated for schema, _ in pairs):
        raise WrongInputError(
            "say which months, as --month 2024-06: the table answers no query without a date, and "
            "each month costs",
            where=BIGQUERY_TABLE,
        )
    return _sql(_expression(asked, pairs), Dialect.BIGQUERY)


def _expression(asked: Asked, tables: Iterable[tuple[Schema, ir.Table]]) -> ir.Table:
    """The question over facts of all tables."""
    wanted = [_wanted(asked, schema, table) for schema, table in tables]
    value = reduce(lambda first, other: first.union(other), wanted)
    return ask(asked, value)


def _wanted(asked: Asked, schema: Schema, table: ir.Table) -> ir.Table:
    # Beside the table, not after the facts: what is stored by date is then not read for others.
    if asked.months:
        spans = [span(month) for month in asked.months]
        within = [(table.date >= first) & (table.date < after) for first, after in spans]
        table = table.filter(reduce(lambda left, other: left | other, within))
    value = facts(schema, table)
    return value if asked.secondary else value.filter(value.is_root_page)


def _sql(expression: ir.Table, dialect: Dialect) -> str:
    return str(ibis.to_sql(expression, dialect=dialect.value))


def _exports(
    connection: duckdb.DuckDBPyConnection, asked: Asked, files: Sequence[Path]
) -> list[Export]:
    return [look(connection, file, frozenset(asked.keys)) for file in files]


def _by_schema(exports: Sequence[Export]) -> Mapping[str, list[Export]]:
    result: dict[str, list[Export]] = {}
    for export in exports:
        result.setdefault(export.schema.name, []).append(export)
    return result


def _views(exports: Sequence[Export]) -> list[str]:
    return [
        f'CREATE TEMP VIEW "{name}" AS\n'
        + "\nUNION ALL\n".join(export.select for export in of_schema)
        for name, of_schema in _by_schema(exports).items()
    ]


def _tables(exports: Sequence[Export]) -> list[tuple[Schema, ir.Table]]:
    schemas = [of_schema[0].schema for of_schema in _by_schema(exports).values()]
    return [(schema, ibis.table(dict(schema.columns), name=schema.name)) for schema in schemas]


def _bigquery_table(name: str, asked: Asked) -> tuple[Schema, ir.Table]:
    where = f"--table {name}"
    if not _TABLE.fullmatch(name):
        raise WrongInputError("is no table; write it as PROJECT.DATASET.TABLE", where=where)
    *catalog, database, table = name.split(".")
    place = {"database": database, "catalog": catalog[0] if catalog else None}
    dated = _DATED_TABLE.match(name)
    if not dated and _DATE.match(table):
        raise WrongInputError(
            "is not read; `summary_requests` of the same date has the data", where=where
        )
    if not dated:
        return CRAWL, ibis.table(dict(CRAWL.columns), name=table, **place)
    if Key.RANK in asked.keys:
        raise WrongInputError("has no ranks; `crawl.requests` has", where=where)
    year, month, day, client = dated.groups()
    own = {name: kind for name, kind in SUMMARY.columns.items() if name not in _NOT_IN_DATED}
    value = ibis.table(own, name=table, **place).mutate(
        date=ibis.date(f"{year}-{month}-{day}"),
        client=ibis.literal(client),
        rank=ibis.null("int64"),
    )
    return SUMMARY, value


_NOT_IN_DATED = ("date", "client", "rank")


def _nothing(asked: Asked) -> str:
    months = f" of {', '.join(asked.months)}" if asked.months else ""
    pages = "" if asked.secondary else " of home pages (--secondary has the others)"
    return f"there is no response{months}{pages}"
