"""Choosing the runs that are shown over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis import Analysis, Cell, Comparison, Results
from headway.analysis.metric import metric_named
from headway.errors import WrongInputError
from headway.report.telling import weight
from headway.results.schema import Status

_TOTAL = metric_named("total_s")


@dataclass(frozen=True)
class ChosenRun:
    """A run that is shown over time.

    Attributes:
        run_id: its name.
        contender: what ran.
        cell: title of the cell.
        outcome: how it ended, in a few words: ``9.32 s``.
    """

    run_id: str
    contender: str
    cell: str
    outcome: str


def chosen_runs(
    results: Results, analysis: Analysis, runs: Sequence[str] = ()
) -> tuple[ChosenRun, ...]:
    """Runs of an experiment that are worth a closer look.

    Args:
        results: the study's results.
        analysis: the experiment's first metric.
        runs: which runs; by default the median runs of the two contenders whose comparison has
            the largest difference that matters, in its cell.
    """
    table = results.runs_of(analysis.experiment)
    names = [name for name in runs if name in table["run_id"]] or (
        [] if runs else _typical_runs(analysis, table)
    )
    titles = {cell.name: cell.title for cell in analysis.cells}
    return tuple(_chosen(titles, row) for row in _rows(table, names))


def check_runs(results: Results, runs: Sequence[str]) -> None:
    """Check that all of these runs are there.

    Raises:
        WrongInputError: one is not.
    """
    known = set(results.runs["run_id"].to_list())
    for name in runs:
        if name not in known:
            raise WrongInputError(f"there is no run {name!r}; runs are called like {min(known)!r}")


def _rows(table: pl.DataFrame, names: Sequence[str]) -> list[dict[str, object]]:
    by_name = {row["run_id"]: row for row in _picked(table, names).iter_rows(named=True)}
    return [by_name[name] for name in names]


def _picked(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    columns = ("run_id", "cell", "contender", "status", "total_s", "error")
    return table.filter(pl.col("run_id").is_in(list(names))).select(columns)


def _chosen(titles: dict[str, str], row: dict[str, object]) -> ChosenRun:
    total = row["total_s"]
    outcome = _TOTAL.text(total) if isinstance(total, float) else str(row["error"] or row["status"])
    return ChosenRun(str(row["run_id"]), str(row["contender"]), titles[str(row["cell"])], outcome)


def _typical_runs(analysis: Analysis, table: pl.DataFrame) -> list[str]:
    """The median runs of the two contenders of the comparison that tells most."""
    found = _most_telling(analysis)
    if found is None:
        return []
    cell, comparison = found
    names = [
        _median_run(analysis, table, cell, contender)
        for contender in (comparison.against, comparison.contender)
    ]
    return [name for name in names if name]


def _most_telling(analysis: Analysis) -> tuple[Cell, Comparison] | None:
    """The comparison with the largest relative difference that matters; else the largest at all."""
    there = [
        (weight(one), abs(one.sample.median - one.against_sample.median), cell, one)
        for cell, one in analysis.comparisons
        if one.sample and one.against_sample
    ]
    found = max(there, key=lambda entry: entry[:2], default=None)
    return found[2:] if found else None


def _median_run(analysis: Analysis, table: pl.DataFrame, cell: Cell, contender: str) -> str | None:
    """The finished run whose value is closest to the median, the first of several."""
    side = cell.side(contender)
    if side is None or side.sample is None:
        return None
    column, median = analysis.metric.column, side.sample.median
    finished = table.filter(
        pl.col("cell") == cell.name,
        pl.col("contender") == contender,
        pl.col("status") == Status.OK.value,
        pl.col(column).is_not_null(),
    )
    nearest = finished.sort((pl.col(column) - median).abs(), "rep", "run_id")
    return None if nearest.is_empty() else str(nearest["run_id"][0])
