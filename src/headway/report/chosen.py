"""Choosing the runs that are shown over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

import polars as pl

from headway.analysis import Analysis, Cell, Comparison, Pairing, StudyResults
from headway.analysis.columns import COLUMNS
from headway.analysis.metric import metric_named
from headway.analysis.numbers import listed
from headway.columns import Status
from headway.errors import WrongInputError
from headway.report.most_telling import rank, weight

_TOTAL = metric_named("total_s")
_MOST_GROUPS = 4
"""Shown on a page: each of page loads takes some 300 kB."""
_MOST_LOADS = 4
"""Page loads that are shown beside each other."""


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
class ChosenGroup:
    """Runs that are shown beside each other.

    Attributes:
        title: what is compared, where, and by which luck: ``h3 against h2: loss 2 %, seed 7``, or of page loads
            ``h1, h2 and h3: loss 2 %, seed 7``.
        runs: the runs.
    """

    title: str
    runs: tuple[ChosenRun, ...]


def chosen_groups(
    results: StudyResults, analysis: Analysis, runs: Sequence[str] = ()
) -> tuple[ChosenGroup, ...]:
    """Runs of an experiment that are worth a closer look.

    Args:
        results: the study's results.
        analysis: the experiment's first metric.
        runs: which runs; by default runs that met the same path. Of transfers pairs: of each of the study's
            comparisons, the first ones first, in the cells with their largest differences that matter, the pair
            with the median ratio. Of page loads those of all contenders of these cells, since pictures of
            several can be looked at together.
    """
    table = results.runs_of(analysis.experiment)
    if runs:
        names = [name for name in runs if name in table["run_id"]]
        chosen_runs = tuple(_chosen(analysis, row) for row in _rows(table, names))
        return (ChosenGroup("as asked for", chosen_runs),) if chosen_runs else ()
    groups = _loads(analysis, table) if _are_loads(analysis, table) else _pairs(analysis, table)
    return tuple(
        ChosenGroup(_title(cell, what, chosen_runs), chosen_runs)
        for cell, what, names in groups
        if (chosen_runs := tuple(_chosen(analysis, row) for row in _rows(table, names)))
    )


_Group = tuple[Cell, str, list[str]]
"""Where, what is beside each other, and names of the runs."""


def _pairs(analysis: Analysis, table: pl.DataFrame) -> Iterator[_Group]:
    for cell, comparison in islice(_most_telling(analysis), _MOST_GROUPS):
        here = _measured(analysis, table, cell)
        names = _median_pair(here, comparison.pairing, analysis.metric.column)
        yield cell, str(comparison.pairing), names


def _are_loads(analysis: Analysis, table: pl.DataFrame) -> bool:
    """Whether the runs load pages, and there are more contenders than a pair."""
    return len(analysis.contenders) > 2 and bool(table["plt_s"].is_not_null().any())


def _loads(analysis: Analysis, table: pl.DataFrame) -> Iterator[_Group]:
    in_turn: dict[str, tuple[Cell, Comparison]] = {}
    for cell, comparison in _most_telling(analysis):
        in_turn.setdefault(cell.name, (cell, comparison))
    for cell, comparison in islice(in_turn.values(), _MOST_GROUPS):
        contenders = _beside(analysis, cell, comparison)
        here = _measured(analysis, table, cell)
        names = _typical_runs(here, contenders, analysis.metric.column)
        if len(names) == len(contenders):
            yield cell, listed(contenders), names
        else:  # no repetition of which all have ended well
            names = _median_pair(here, comparison.pairing, analysis.metric.column)
            yield cell, str(comparison.pairing), names


def _beside(analysis: Analysis, cell: Cell, comparison: Comparison) -> list[str]:
    """The contenders of a comparison, and others as far as there is room, those that differ most first."""
    others = sorted(cell.comparisons, key=rank, reverse=True)
    wanted = [comparison.pairing.against, comparison.pairing.contender]
    wanted += [comparison.pairing.contender for comparison in others]
    measured = [side.contender for side in cell.sides if side.sample]
    kept = [name for name in dict.fromkeys((*wanted, *measured)) if name in measured]
    return [name for name in analysis.contenders if name in kept[:_MOST_LOADS]]


def _title(cell: Cell, what: str, runs: Sequence[ChosenRun]) -> str:
    where = ", ".join(filter(None, (cell.title, runs[0].repetition.partition(":")[0])))
    return f"{what}: {where}"


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
    met = [
        column.titled(_rounded(row[column.column])) for column in COLUMNS if column.name in drawn
    ]
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


def _measured(analysis: Analysis, table: pl.DataFrame, cell: Cell) -> pl.DataFrame:
    """The runs of a cell that have a value of the metric."""
    return table.filter(
        pl.col("cell") == cell.name,
        pl.col("status") == Status.OK.value,
        pl.col(analysis.metric.column).is_not_null(),
    )


def _most_telling(analysis: Analysis) -> Iterator[tuple[Cell, Comparison]]:
    """Each comparison in turn, its cells by how much it differs there; what matters before what may be chance."""
    ranked = []
    for pairing in analysis.pairings:
        there = [
            (
                weight(comparison),
                abs(comparison.sample.median - comparison.against_sample.median),
                cell,
                comparison,
            )
            for cell, comparison in analysis.comparisons
            if comparison.pairing == pairing and comparison.sample and comparison.against_sample
        ]
        there.sort(key=lambda entry: entry[:2], reverse=True)
        ranked.append([entry[2:] for entry in there])
    return (entry for entry in chain.from_iterable(zip_longest(*ranked)) if entry)


def _typical_runs(here: pl.DataFrame, contenders: Sequence[str], column: str) -> list[str]:
    """The runs of the repetition whose ratios are nearest to the medians of all; none if no repetition is whole."""
    wide = (
        here.filter(pl.col("contender").is_in(list(contenders)))
        .pivot("contender", index=["seed", "rep"], values=["run_id", column])
        .drop_nulls()
    )
    if wide.is_empty() or wide.width < 2 + 2 * len(contenders):
        return []
    logs = [pl.col(f"{column}_{name}").log() for name in contenders]
    mean = pl.mean_horizontal(logs)
    far = pl.sum_horizontal([((log - mean) - (log - mean).median()).abs() for log in logs])
    row = wide.sort(far, "rep").row(0, named=True)
    return [row[f"run_id_{name}"] for name in contenders]


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
