"""The analysis of a study: its cells, what each protocol did there, and the comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis.compare import Comparison, Observation, Verdict, compare
from headway.analysis.factors import Conditions, conditions
from headway.analysis.inputs import Results
from headway.analysis.metric import Metric, metric_named
from headway.analysis.sample import Sample, summarise
from headway.errors import WrongInputError
from headway.results.schema import Status

DEFAULT_BASELINE = "h2"
_PROTOCOL_ORDER = ("h1", "h2", "h3")


@dataclass(frozen=True)
class Side:
    """What a protocol did in a cell.

    Attributes:
        protocol: the protocol.
        runs: number of runs, failed ones included.
        failed: runs that failed.
        timeouts: runs that were given up.
        observations: the metric in the runs that measured it.
        sample: summary of those; None if there are none.
        limited_by: what limited the runs, with counts, most frequent first.
    """

    protocol: str
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
        sides: its protocols, in the study's order.
        comparisons: each protocol but the baseline against the baseline.
        leaders: the fastest protocol, with those that are not clearly slower; empty if
            fewer than two protocols finished.
    """

    name: str
    title: str
    levels: tuple[int, ...]
    sides: tuple[Side, ...]
    comparisons: tuple[Comparison, ...]
    leaders: tuple[str, ...]

    def side(self, protocol: str) -> Side | None:
        """What this protocol did here; None if it was not run."""
        return next((side for side in self.sides if side.protocol == protocol), None)

    def comparison(self, protocol: str) -> Comparison | None:
        """The comparison of this protocol with the baseline."""
        return next((one for one in self.comparisons if one.protocol == protocol), None)

    @property
    def winner(self) -> str | None:
        """The protocol that is clearly faster than every other that finished."""
        return self.leaders[0] if len(self.leaders) == 1 else None


@dataclass(frozen=True)
class Analysis:
    """One metric of a study, cell by cell.

    Attributes:
        metric: what is compared.
        baseline: the protocol that the others are compared with.
        protocols: all protocols, in the order of tables and figures.
        conditions: what varies between cells and what does not.
        cells: the cells in the order of their titles.
    """

    metric: Metric
    baseline: str
    protocols: tuple[str, ...]
    conditions: Conditions
    cells: tuple[Cell, ...]

    @property
    def challengers(self) -> tuple[str, ...]:
        """The protocols that are compared with the baseline."""
        return tuple(protocol for protocol in self.protocols if protocol != self.baseline)


def analyse(results: Results, metric: str | None = None, baseline: str | None = None) -> Analysis:
    """Compare the protocols of every cell with a baseline.

    Args:
        results: the runs and their manifest.
        metric: column to compare; the study's first metric if not given.
        baseline: protocol to compare with; the study's if not given, and the first protocol if
            the runs have none of it.

    Raises:
        WrongInputError: the records have no such metric.
    """
    chosen = metric_named(metric or results.manifest.metrics[0])
    if chosen.column not in results.runs.columns:
        raise WrongInputError(f"the records have no column {chosen.column!r}")
    protocols = _protocols(results.runs)
    wanted = baseline or results.manifest.baseline or DEFAULT_BASELINE
    base = wanted if wanted in protocols else protocols[0]
    found = conditions(results.runs)
    parts = results.runs.partition_by("cell", as_dict=True)
    cells = tuple(
        _cell(name, found, parts[(name,)], chosen, protocols, base) for name in found.levels
    )
    return Analysis(chosen, base, protocols, found, cells)


def _protocols(runs: pl.DataFrame) -> tuple[str, ...]:
    """Known protocols in the order of their versions, then others by name."""
    names = runs["protocol"].unique().to_list()
    rank = {name: place for place, name in enumerate(_PROTOCOL_ORDER)}
    return tuple(sorted(names, key=lambda name: (rank.get(name, len(rank)), name)))


def _cell(
    name: str,
    found: Conditions,
    runs: pl.DataFrame,
    metric: Metric,
    protocols: Sequence[str],
    baseline: str,
) -> Cell:
    sides = tuple(
        _side(protocol, part, metric)
        for protocol in protocols
        if not (part := runs.filter(pl.col("protocol") == protocol)).is_empty()
    )
    base = next((side.observations for side in sides if side.protocol == baseline), ())
    return Cell(
        name=name,
        title=found.title(name),
        levels=found.levels[name],
        sides=sides,
        comparisons=tuple(
            compare(side.protocol, side.observations, baseline, base, metric)
            for side in sides
            if side.protocol != baseline
        ),
        leaders=_leaders(sides, metric),
    )


def _side(protocol: str, runs: pl.DataFrame, metric: Metric) -> Side:
    statuses = Counter(runs["status"].to_list())
    finished = runs.filter(pl.col("status") == Status.OK.value)
    measured = finished.filter(pl.col(metric.column).is_not_null()).sort("seed", "rep", "run_id")
    observations = tuple(
        Observation(seed, rep or 0, float(value))
        for seed, rep, value in measured.select("seed", "rep", metric.column).iter_rows()
    )
    limits = Counter(finished["limited_by"].drop_nulls().to_list())
    return Side(
        protocol=protocol,
        runs=runs.height,
        failed=statuses[Status.FAILED.value],
        timeouts=statuses[Status.TIMEOUT.value],
        observations=observations,
        sample=summarise([run.value for run in observations]),
        limited_by=tuple(sorted(limits.items(), key=lambda item: (-item[1], item[0]))),
    )


def _leaders(sides: Sequence[Side], metric: Metric) -> tuple[str, ...]:
    medians = {side.protocol: side.sample.median for side in sides if side.sample}
    if len(medians) < 2:
        return ()
    best = (min if metric.less_is_better else max)(medians, key=lambda name: medians[name])
    first = next(side.observations for side in sides if side.protocol == best)
    return tuple(
        side.protocol
        for side in sides
        if side.sample is not None
        and (side.protocol == best or not _clearly_slower(side, best, first, metric))
    )


def _clearly_slower(side: Side, best: str, first: Sequence[Observation], metric: Metric) -> bool:
    against = compare(side.protocol, side.observations, best, first, metric)
    return against.matters and against.verdict is Verdict.SLOWER
