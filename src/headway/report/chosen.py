"""Choosing the runs that are shown over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, Comparison, Pairing, StudyResults
from headway.analysis.columns import COLUMNS
from headway.analysis.metric import metric_named
from headway.columns import Status
from headway.errors import WrongInputError
from headway.report.telling import weight

_TOTAL = metric_named("total_s")
_MOST_PAIRS = 4
"""Shown on a page: each of page loads takes some 300 kB."""


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


@dataclass(frozen=True)
class ChosenPair:
    """Runs that are shown beside each other.

    Attributes:
        title: what is compared, where, and by which luck: ``h3 against h2: loss 2 %, seed 7``.
        runs: the runs.
    """

    title: str
    runs: tuple[ChosenRun, ...]


def chosen_pairs(
    results: StudyResults, analysis: Analysis, runs: Sequence[str] = ()
) -> tuple[ChosenPair, ...]:
    """Runs of an experiment that are worth a closer look.

    Args:
        results: the study's results.
        analysis: the experiment's first metric.
        runs: which runs; by default pairs that met the same path: of each of the study's comparisons,
            the first ones first, in the cells with their largest differences that matter, the pair
            with the median ratio.
    """
    table = results.runs_of(analysis.experiment)
    if runs:
        names = [name for name in runs if name in table["run_id"]]
        found = tuple(_chosen(analysis, row) for row in _rows(table, names))
        return (ChosenPair("as asked for", found),) if found else ()
    pairs = [
        (cell, comparison, _pair_of(analysis, table, cell, comparison))
        for cell, comparison in _most_telling(analysis)
    ]
    return tuple(
        ChosenPair(_title(cell, comparison, found), found)
        for cell, comparison, names in pairs
        if (found := tuple(_chosen(analysis, row) for row in _rows(table, names)))
    )


def chosen_runs(
    results: StudyResults, analysis: Analysis, runs: Sequence[str] = ()
) -> tuple[ChosenRun, ...]:
    """The runs of the first of `chosen_pairs`."""
    return next((pair.runs for pair in chosen_pairs(results, analysis, runs)), ())


def _title(cell: Cell, comparison: Comparison, runs: Sequence[ChosenRun]) -> str:
    where = ", ".join(filter(None, (cell.title, runs[0].repetition.partition(":")[0])))
    return f"{comparison.pairing}: {where}"


def runs_said(runs: Sequence[ChosenRun]) -> str:
    """Which runs these are, and whether they met the same path, as a sentence."""
    met = {run.repetition for run in runs}
    if len(met) > 1:
        each = ", ".join(f"{run.run_id} ({run.repetition})" for run in runs)
        return f"Runs, not of the same repetition: {each}."
    return f"Runs: {', '.join(run.run_id for run in runs)} ({', '.join(met)})."


def check_runs(results: StudyResults, runs: Sequence[str]) -> None:
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
    title = analysis.titles[row["cell"]]
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
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(float(f"{value:.3g}"))


def _pair_of(
    analysis: Analysis, table: pl.DataFrame, cell: Cell, comparison: Comparison
) -> list[str]:
    """The pair with the median ratio."""
    here = table.filter(
        pl.col("cell") == cell.name,
        pl.col("status") == Status.OK.value,
        pl.col(analysis.metric.column).is_not_null(),
    )
    return _median_pair(here, comparison.pairing, analysis.metric.column)


def _most_telling(analysis: Analysis) -> list[tuple[Cell, Comparison]]:
    """Each comparison in turn, its cells by how much it differs there; what matters before what may be chance."""
    ranked = []
    for pairing in analysis.pairings:
        there = [
            (weight(one), abs(one.sample.median - one.against_sample.median), cell, one)
            for cell, one in analysis.comparisons
            if one.pairing == pairing and one.sample and one.against_sample
        ]
        there.sort(key=lambda entry: entry[:2], reverse=True)
        ranked.append([entry[2:] for entry in there[:_MOST_PAIRS]])
    turns = chain.from_iterable(zip_longest(*ranked))
    return [entry for entry in turns if entry][:_MOST_PAIRS]


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
