"""Tables of records in Parquet, held against their schema: others may have written them, or a disk lost a part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from headway.columns import Columns, schema_of
from headway.errors import WrongInputError
from headway.records.store import RUNS_FILE

_OF_A_RUN = ("experiment", "run_id")
"""Columns by which runs are told apart."""


def read_table(file: Path, record: type[Columns], key: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of a file of any name: Polars itself opens only those whose names are text.

    Args:
        file: what to read.
        record: what a row is; columns that it does not have are left as they are.
        key: columns by which rows are told apart.

    Raises:
        WrongInputError: it is no such table, or two rows have the same key.
    """
    where = str(file)
    try:
        with file.open("rb") as opened:
            table = pl.read_parquet(opened)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise WrongInputError(f"cannot be read as Parquet: {reason}", where=where) from error
    table = _of_schema(table, record, where)
    _check_numbers(table, where)
    if key and set(key) <= {*table.columns}:
        twice = table.drop_nulls(key).filter(pl.struct(key).is_duplicated())
        if not twice.is_empty():
            name = " ".join(map(str, twice.select(key).row(0)))
            raise WrongInputError(f"has a row of {name!r} twice", where=where)
    return table


def read_table_of_runs(file: Path, record: type[Columns], runs: pl.DataFrame) -> pl.DataFrame:
    """The rows of a file that says more of runs, such as of their flows; columns that it lacks are null.

    Args:
        file: what to read.
        record: what a row is.
        runs: the rows of the runs that it is of.

    Raises:
        WrongInputError: it is no such table, or a row is of none of these runs.
    """
    table = read_table(file, record)
    missing = [name for name in _OF_A_RUN if name not in table.columns]
    if missing:
        raise WrongInputError(f"lacks the columns {', '.join(missing)}", where=str(file))
    foreign = table.join(runs, on=_OF_A_RUN, how="anti", nulls_equal=True)
    if not foreign.is_empty():
        name = " ".join(map(str, foreign.select(_OF_A_RUN).row(0)))
        counts = f"{foreign.height} of {table.height} rows"
        raise WrongInputError(
            f"{counts} are of runs that are not in {RUNS_FILE}, such as {name!r}", where=str(file)
        )
    return table


def _of_schema(table: pl.DataFrame, record: type[Columns], where: str) -> pl.DataFrame:
    """The table with the types of its schema, as far as its values can have them."""
    types = table.schema
    others = {
        name: kind
        for name, kind in schema_of(record).items()
        if name in types and types[name] != kind
    }
    for name, kind in others.items():
        try:
            table = table.with_columns(pl.col(name).cast(kind))
        except pl.exceptions.PolarsError:
            raise WrongInputError(
                f"its column {name} holds {types[name]}, not {kind}", where=where
            ) from None
    return table


def _check_numbers(table: pl.DataFrame, where: str) -> None:
    """What was not measured is null: neither a statistic nor a sentence has another word for it."""
    is_wrong = table.select(pl.selectors.float().is_finite().not_().any())
    for name in (column.name for column in is_wrong if column.any()):
        raise WrongInputError(f"its column {name} has a value that is no number", where=where)
