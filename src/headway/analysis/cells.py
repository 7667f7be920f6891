"""The analysis of a study: its cells, what each contender did there, and the comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis.compare import Comparison, Observation, Pairing, Verdict, compare
from headway.analysis.factors import Conditions, conditions
from headway.analysis.inputs import Results
from headway.analysis.metric import Metric, metric_named
from headway.analysis.sample import Sample, summarise
from headway.errors import WrongInputError
from headway.results.schema import Status

DEFAULT_BASELINE = "h2"
_KNOWN_ORDER = ("h1", "h2", "h3")


@dataclass(frozen=True)
class Side:
    """What a contender did in a cell.

    Attributes:
        contender: the contender.
        runs: number of runs, failed ones included.
        failed: runs that failed.
        timeouts: runs that were given up.
        observations: the metric in the runs that measured it.
        sample: summary of those; None if there are none.
        limited_by: what limited the runs, with counts, most frequent first.
    """

    contender: str
    runs: int
    failed: int
    timeouts: int
    observations: tuple[Observation, ...]
    sample: Sample | None
    limited_by: tuple[tuple[str, int], ...]

    @property
    def failures(self) -> int:
        """Runs that did not end well."""
        return self.failed + self.timeouts


@dataclass(frozen=True)
class Cell:
    """A cell: its name, its title (empty if nothing varies), and its results.

    Attributes:
        name: its name in the records.
        title: what tells it from the other cells, in words.
        levels: index of its level of each factor of the study.
        sides: its contenders, in the study's order.
        comparisons: what the study compares, as far as it was run here.
        leaders: the fastest contender, with those that are not clearly slower; empty if
            fewer than two contenders finished.
    """

    name: str
    title: str
    levels: tuple[int, ...]
    sides: tuple[Side, ...]
    comparisons: tuple[Comparison, ...]
    leaders: tuple[str, ...]

    def side(self, contender: str) -> Side | None:
        """What this contender did here; None if it was not run."""
        return next((side for side in self.sides if side.contender == contender), None)

    def comparison(self, pairing: Pairing) -> Comparison | None:
        """The comparison of these two; None if one of them was not run."""
        return next((one for one in self.comparisons if one.pairing == pairing), None)

    @property
    def winner(self) -> str | None:
        """The contender that is clearly faster than every other that finished."""
        return self.leaders[0] if len(self.leaders) == 1 else None


@dataclass(frozen=True)
class Analysis:
    """One metric of a study, cell by cell.

    Attributes:
        metric: what is compared.
        baseline: the contender that the others are compared with.
        contenders: all contenders, in the order of tables and figures.
        pairings: what is compared with what.
        conditions: what varies between cells and what does not.
        cells: the cells in the order of their titles.
    """

    metric: Metric
    baseline: str
    contenders: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    conditions: Conditions
    cells: tuple[Cell, ...]


def analyse(results: Results, metric: str | None = None, baseline: str | None = None) -> Analysis:
    """Compare the contenders of every cell with a baseline.

    Args:
        results: the runs and their manifest.
        metric: column to compare; the study's first metric if not given.
        baseline: contender to compare with; the study's if not given, and the first contender if
            the runs have none of it.

    Raises:
        WrongInputError: the records have no such metric.
    """
    chosen = metric_named(metric or results.manifest.metrics[0])
    if chosen.column not in results.runs.columns:
        raise WrongInputError(f"the records have no column {chosen.column!r}")
    contenders = _contenders(results.runs)
    wanted = baseline or results.manifest.baseline or DEFAULT_BASELINE
    base = wanted if wanted in contenders else contenders[0]
    pairings = tuple(Pairing(contender, base) for contender in contenders if contender != base)
    found = conditions(results.runs)
    parts = results.runs.partition_by("cell", as_dict=True)
    cells = tuple(
        _cell(name, found, parts[(name,)], chosen, contenders, pairings) for name in found.levels
    )
    return Analysis(chosen, base, contenders, pairings, found, cells)


def _contenders(runs: pl.DataFrame) -> tuple[str, ...]:
    """Known contenders in the order of their versions, then others by name."""
    names = runs["contender"].unique().to_list()
    rank = {name: place for place, name in enumerate(_KNOWN_ORDER)}
    return tuple(sorted(names, key=lambda name: (rank.get(name, len(rank)), name)))


def _cell(
    name: str,
    found: Conditions,
    runs: pl.DataFrame,
    metric: Metric,
    contenders: Sequence[str],
    pairings: Sequence[Pairing],
) -> Cell:
    sides = tuple(
        _side(contender, part, metric)
        for contender in contenders
        if not (part := runs.filter(pl.col("contender") == contender)).is_empty()
    )
    runs_of = {side.contender: side.observations for side in sides}
    return Cell(
        name=name,
        title=found.title(name),
        levels=found.levels[name],
        sides=sides,
        comparisons=tuple(
            compare(pairing, runs_of[pairing.contender], runs_of.get(pairing.against, ()), metric)
            for pairing in pairings
            if pairing.contender in runs_of
        ),
        leaders=_leaders(sides, metric),
    )


def _side(contender: str, runs: pl.DataFrame, metric: Metric) -> Side:
    statuses = Counter(runs["status"].to_list())
    finished = runs.filter(pl.col("status") == Status.OK.value)
    measured = finished.filter(pl.col(metric.column).is_not_null()).sort("seed", "rep", "run_id")
    observations = tuple(
        Observation(seed, rep or 0, float(value))
        for seed, rep, value in measured.select("seed", "rep", metric.column).iter_rows()
    )
    limits = Counter(finished["limited_by"].drop_nulls().to_list())
    return Side(
        contender=contender,
        runs=runs.height,
        failed=statuses[Status.FAILED.value],
        timeouts=statuses[Status.TIMEOUT.value],
        observations=observations,
        sample=summarise([run.value for run in observations]),
        limited_by=tuple(sorted(limits.items(), key=lambda item: (-item[1], item[0]))),
    )


def _leaders(sides: Sequence[Side], metric: Metric) -> tuple[str, ...]:
    medians = {side.contender: side.sample.median for side in sides if side.sample}
    if len(medians) < 2:
        return ()
    best = (min if metric.less_is_better else max)(medians, key=lambda name: medians[name])
    first = next(side.observations for side in sides if side.contender == best)
    return tuple(
        side.contender
        for side in sides
        if side.sample is not None
        and (side.contender == best or not _clearly_slower(side, best, first, metric))
    )


def _clearly_slower(side: Side, best: str, first: Sequence[Observation], metric: Metric) -> bool:
    against = compare(Pairing(side.contender, best), side.observations, first, metric)
    return against.matters and against.verdict is Verdict.SLOWER
