"""Reading a results directory: the runs and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headway.analysis.manifest import Manifest, read_manifest
from headway.errors import WrongInputError
from headway.results.schema import polars_schema

_NEEDED = ("cell", "contender", "experiment", "seed", "status")


@dataclass(frozen=True)
class Results:
    """The runs of a study, one row each in the schema of ``headway.results``, and its manifest."""

    runs: pl.DataFrame
    manifest: Manifest


def load_results(directory: Path) -> Results:
    """Read ``runs.parquet`` and ``manifest.json`` of a results directory.

    Raises:
        WrongInputError: there are no runs, or they lack a column that every analysis needs.
    """
    file = directory / "runs.parquet"
    if not file.exists():
        raise WrongInputError("no runs.parquet; is this a results directory?", where=str(directory))
    try:
        runs = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise WrongInputError(f"cannot be read as Parquet: {error}", where=str(file)) from error
    missing = [name for name in _NEEDED if name not in runs.columns]
    if missing:
        raise WrongInputError(f"lacks the columns {', '.join(missing)}", where=str(file))
    if runs.is_empty():
        raise WrongInputError("holds no runs", where=str(file))
    return Results(with_all_columns(runs), read_manifest(directory / "manifest.json"))


def with_all_columns(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs with every column of the schema; those that were not recorded are null."""
    absent = [
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in polars_schema().items()
        if name not in runs.columns
    ]
    return runs.with_columns(absent)
