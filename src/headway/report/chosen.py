"""Choosing the runs that are shown over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, Comparison, Pairing, Results
from headway.analysis.columns import COLUMNS
from headway.analysis.metric import metric_named
from headway.columns import Status
from headway.errors import WrongInputError
from headway.report.telling import weight

_TOTAL = metric_named("total_s")


@dataclass(frozen=True)
class ChosenRun:
    """A run that is shown over time.

    Attributes:
        run_id: its name.
        contender: what ran.
        cell: title of the cell.
        outcome: how it ended, in a few words: ``9.32 s``.
        repetition: its seed, and what was drawn with it: ``seed 7: 23.4 Mbit/s, RTT 90 ms``.
    """

    run_id: str
    contender: str
    cell: str
    outcome: str
    repetition: str


def chosen_runs(
    results: Results, analysis: Analysis, runs: Sequence[str] = ()
) -> tuple[ChosenRun, ...]:
    """Runs of an experiment that are worth a closer look.

    Args:
        results: the study's results.
        analysis: the experiment's first metric.
        runs: which runs; by default two that met the same path: of the study's first comparison,
            in the cell with its largest difference that matters, the pair with the median ratio.
    """
    table = results.runs_of(analysis.experiment)
    names = [name for name in runs if name in table["run_id"]] or (
        [] if runs else _typical_runs(analysis, table)
    )
    return tuple(_chosen(analysis, row) for row in _rows(table, names))


def runs_said(runs: Sequence[ChosenRun]) -> str:
    """Which runs these are, and whether they met the same path, as a sentence."""
    met = {run.repetition for run in runs}
    if len(met) > 1:
        each = ", ".join(f"{run.run_id} ({run.repetition})" for run in runs)
        return f"Runs, not of the same repetition: {each}."
    return f"Runs: {', '.join(run.run_id for run in runs)} ({', '.join(met)})."


def check_runs(results: Results, runs: Sequence[str]) -> None:
    """Check that all of these runs are there.

    Raises:
        WrongInputError: one is not.
    """
    known = set(results.runs["run_id"].to_list())
    for name in runs:
        if name not in known:
            raise WrongInputError(f"there is no run {name!r}; runs are called like {min(known)!r}")


def _rows(table: pl.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    picked = table.filter(pl.col("run_id").is_in(list(names)))
    by_name = {row["run_id"]: row for row in picked.iter_rows(named=True)}
    return [by_name[name] for name in names]


def _chosen(analysis: Analysis, row: Mapping[str, Any]) -> ChosenRun:
    total = row["total_s"]
    title = next(cell.title for cell in analysis.cells if cell.name == row["cell"])
    drawn = {constant.name for constant in analysis.conditions.drawn}
    met = [one.titled(_rounded(row[one.column])) for one in COLUMNS if one.name in drawn]
    return ChosenRun(
        run_id=row["run_id"],
        contender=row["contender"],
        cell=title,
        outcome=_TOTAL.text(total) if total is not None else row["error"] or row["status"],
        repetition=f"seed {row['seed']}{': ' if met else ''}{', '.join(met)}",
    )


def _rounded(value: Any) -> Any:
    """A drawn number with three digits, which is all that tells."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _typical_runs(analysis: Analysis, table: pl.DataFrame) -> list[str]:
    """The pair with the median ratio of the comparison that was asked first and tells most."""
    found = _most_telling(analysis)
    if found is None:
        return []
    cell, comparison = found
    here = table.filter(
        pl.col("cell") == cell.name,
        pl.col("status") == Status.OK.value,
        pl.col(analysis.metric.column).is_not_null(),
    )
    return _median_pair(here, comparison.pairing, analysis.metric.column)


def _most_telling(analysis: Analysis) -> tuple[Cell, Comparison] | None:
    """The first comparison of the study that any cell has, where it differs most.

    What matters goes before what may be chance.
    """
    for pairing in analysis.pairings:
        there = [
            (weight(one), abs(one.sample.median - one.against_sample.median), cell, one)
            for cell, one in analysis.comparisons
            if one.pairing == pairing and one.sample and one.against_sample
        ]
        if there:
            return max(there, key=lambda entry: entry[:2])[2:]
    return None


def _median_pair(here: pl.DataFrame, pairing: Pairing, column: str) -> list[str]:
    """The runs of the repetition whose ratio is the median; one of the middle two of an even number.

    Without common seeds, the median run of each.
    """
    of = {
        name: here.filter(pl.col("contender") == name).sort(column, "rep", "run_id")
        for name in (pairing.against, pairing.contender)
    }
    pairs = of[pairing.contender].join(of[pairing.against], on=["seed", "rep"], suffix="_against")
    if pairs.is_empty():
        return [str(runs["run_id"][(runs.height - 1) // 2]) for runs in of.values() if runs.height]
    pairs = pairs.sort(pl.col(column) / pl.col(f"{column}_against"), "rep")
    middle = pairs.row((pairs.height - 1) // 2, named=True)
    return [middle["run_id_against"], middle["run_id"]]
