"""The rules of claims: from a rule and our runs to estimates, and where they have to lie."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison, Contest, Pairing, compare
from headway.analysis.correlation import rank_correlation
from headway.analysis.counts import count_difference
from headway.analysis.effects import relative_means
from headway.analysis.finding import Finding, Region
from headway.analysis.intervals import Interval, share_interval
from headway.analysis.sample import Measurements, Observation, SampleSummary
from headway.analysis.scatter import scatter_ratio
from headway.columns import Status
from headway.study.claim import (
    CellCounts,
    Claim,
    Correlation,
    Equal,
    Failures,
    Gap,
    Monotone,
    Order,
    Spread,
    Trend,
    Value,
)
from headway.study.published import RELATIVE_UNIT, RunInterval, Statistic
from headway.study.units import magnitude

_UP, _DOWN = Region(low=0), Region(high=0)


def findings_by_cell(analysis: Analysis, claim: Claim) -> list[list[Finding]]:
    """What a claim rests on: for each cell, or row of cells, what has to lie where."""
    runs = _Runs(analysis, claim.span)
    grid = analysis.experiment.coordinates
    cells = [cell for cell in analysis.cells_as_studied if claim.is_about(grid.get(cell.name, {}))]
    match claim.rule:
        case Order() as rule:
            return [_order(runs, cell, rule) for cell in cells]
        case Gap() as rule:
            region = Region.of(rule.value, rule.low, rule.high)
            difference = partial(runs.difference, unit=rule.unit, statistic=rule.statistic)
            return [[difference(_place(cell, *rule.named), region)] for cell in cells]
        case Equal() as rule:
            region = Region(-rule.within, rule.within)
            difference = partial(runs.difference, statistic=rule.statistic)
            return [[difference(_place(cell, *rule.named), region)] for cell in cells]
        case Spread() as rule:
            return [[_spread(runs, cell, rule)] for cell in cells]
        case Value() as rule:
            return [[_value(runs, cell, rule)] for cell in cells]
        case Monotone() as rule:
            return [list(steps) for steps in _steps(runs, cells, rule)]
        case Correlation() as rule:
            return [[_correlation(runs, cells, rule)]]
        case CellCounts() as rule:
            return [[_counts(runs, row, rule)] for row in _rows(grid, cells, rule.axis)]
        case Failures() as rule:
            return [[_failures(cells, rule)]]


@dataclass(frozen=True)
class _Place:
    """Two samples that are compared.

    Attributes:
        what: in words.
        one: a contender in a cell, or two, which then stand for their ratio.
        other: what it is compared with.
    """

    what: str
    one: tuple[Cell, tuple[str, ...]]
    other: tuple[Cell, tuple[str, ...]]


def _place(cell: Cell, one: str, other: str) -> _Place:
    return _Place(_in(cell, f"{one} against {other}"), (cell, (one,)), (cell, (other,)))


@dataclass(frozen=True)
class _Runs:
    """The runs of an experiment, by the metric that a claim is about.

    Attributes:
        analysis: of that metric.
        span: the interval of time, if it is of one.
    """

    analysis: Analysis
    span: RunInterval | None

    def measured(self, cell: Cell, contenders: Sequence[str]) -> Measurements:
        """What a contender's runs measured; of two contenders, the ratios of runs with the same seed."""
        sides = [cell.side(name) for name in contenders]
        found = [side.measured_in(self.span) if side else Measurements(()) for side in sides]
        return _ratios(*found) if len(found) > 1 else found[0]

    def difference(
        self,
        place: _Place,
        region: Region,
        unit: str = RELATIVE_UNIT,
        statistic: Statistic | None = None,
    ) -> Finding:
        """The difference of two samples, relative or in the metric's unit; typical, or of the means."""
        one, other = self.measured(*place.one), self.measured(*place.other)
        if not one.sample or not other.sample:
            return Finding(place.what, None, None, region, 0, unit)
        pairing = Pairing(place.one[1][0], place.other[1][0])
        found = compare([Contest(pairing, one, other)], self.analysis.metric)[0]
        relative = unit == RELATIVE_UNIT
        value, interval = _relative(found, one, other, statistic) if relative else _absolute(found)
        if value is not None and _always_alike(one.sample, other.sample):
            interval = Interval(value, value, 1.0, "every run")
        n = found.pairs.n or min(one.sample.n, other.sample.n)
        return Finding(place.what, value, interval, region, n, unit)

    def column(self, cell: Cell, contender: str, name: str) -> float | None:
        """Median of a column over a contender's runs in a cell that ended well."""
        value = self.analysis.runs.filter(
            (pl.col("cell") == cell.name)
            & (pl.col("contender") == contender)
            & (pl.col("status") == Status.OK.value)
        )[name].median()
        return float(value) if isinstance(value, int | float) else None


def _relative(
    found: Comparison, one: Measurements, other: Measurements, statistic: Statistic | None
) -> tuple[float | None, Interval | None]:
    """In percent."""
    value, interval = found.relative, found.relative_interval
    if statistic is Statistic.MEAN:
        value, interval = relative_means(one, other)
    return (None if value is None else 100 * value), (interval.scaled(100) if interval else None)


def _absolute(found: Comparison) -> tuple[float | None, Interval | None]:
    """The median of the pairs' differences, in the metric's unit."""
    return found.pairs.median, found.pairs.interval


def _ratios(one: Measurements, other: Measurements) -> Measurements:
    """A contender's values over another's, run by run with the same seed."""
    others = {(run.seed, run.rep): run.value for run in other.observations}
    return Measurements.of(
        Observation(run.seed, run.rep, run.value / base)
        for run in one.observations
        if (base := others.get((run.seed, run.rep)))
    )


def _always_alike(*samples: SampleSummary) -> bool:
    """Whether all runs of each were equal, and there were several."""
    return all(sample.constant and sample.n > 1 for sample in samples)


def _order(runs: _Runs, cell: Cell, rule: Order) -> list[Finding]:
    """Whether each contender of the order is better than the next."""
    better = _DOWN if runs.analysis.metric.less_is_better else _UP
    return [
        runs.difference(_place(cell, one, other), better, statistic=rule.statistic)
        for one, other in itertools.pairwise(rule.contenders)
    ]


def _spread(runs: _Runs, cell: Cell, rule: Spread) -> Finding:
    """The ratio of two mean deviations from the median."""
    place = _place(cell, *rule.named)
    one, other = runs.measured(*place.one), runs.measured(*place.other)
    value, interval = scatter_ratio(one.values, other.values)
    region = Region.of(None, rule.low, rule.high)
    n = min(len(one.values), len(other.values))
    return Finding(f"{place.what}, scatter", value, interval, region, n, "")


def _value(runs: _Runs, cell: Cell, rule: Value) -> Finding:
    region, unit = Region.of(rule.value, rule.low, rule.high), runs.analysis.metric.unit
    sample, what = runs.measured(cell, rule.named).sample, _in(cell, rule.contender)
    if sample is None:
        return Finding(what, None, None, region, 0, unit)
    mean = rule.statistic is Statistic.MEAN
    value, interval = (
        (sample.mean, sample.mean_interval) if mean else (sample.median, sample.interval)
    )
    if _always_alike(sample):
        interval = Interval(value, value, 1.0, "every run")
    return Finding(what, value, interval, region, sample.n, unit)


def _steps(runs: _Runs, cells: Sequence[Cell], rule: Monotone) -> Iterator[Iterator[Finding]]:
    """Along the axis, from cell to cell that differ in nothing else."""
    region = _UP if rule.trend is Trend.RISING else _DOWN
    for row in _rows(runs.analysis.experiment.coordinates, cells, rule.axis):
        yield (
            runs.difference(
                _Place(
                    f"{after.title} after {before.title}: {' against '.join(rule.named)}",
                    (after, rule.named),
                    (before, rule.named),
                ),
                region,
            )
            for before, after in itertools.pairwise(row)
        )


def _rows(
    grid: Mapping[str, Mapping[str, object]], cells: Iterable[Cell], axis: str
) -> list[list[Cell]]:
    """Cells that differ in an axis only, in its order."""
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        at = dict(grid.get(cell.name, {}))
        at.pop(axis, None)
        rows.setdefault(repr(at), []).append(cell)
    return list(rows.values())


def _correlation(runs: _Runs, cells: Sequence[Cell], rule: Correlation) -> Finding:
    """Spearman's rank correlation of an axis, or a column, and the metric over the cells."""
    region = _UP if rule.trend is Trend.RISING else _DOWN
    points = [
        (place, value)
        for cell in cells
        if (place := _level(runs, cell, rule)) is not None
        and (value := _height(runs, cell, rule)) is not None
    ]
    what = f"{' against '.join(rule.named)} and {rule.axis or rule.column}"
    value, interval = rank_correlation(points)
    return Finding(what, value, interval, region, len(points), "")


def _level(runs: _Runs, cell: Cell, rule: Correlation) -> float | None:
    """Where a cell is on the axis, or in the column."""
    if rule.column is not None:
        return runs.column(cell, rule.contender, rule.column)
    return magnitude(runs.analysis.experiment.coordinates[cell.name].get(rule.axis or ""))


def _height(runs: _Runs, cell: Cell, rule: Correlation) -> float | None:
    if rule.against is not None:
        return runs.difference(_place(cell, rule.contender, rule.against), Region()).value
    sample = runs.measured(cell, rule.named).sample
    return sample.median if sample else None


def _counts(runs: _Runs, cells: Sequence[Cell], rule: CellCounts) -> Finding:
    """Cells at which the contender is better, less those at which it is worse, in percent of all."""
    region = Region.of(None, rule.low, rule.high)
    pairs = [tuple(runs.measured(cell, (name,)) for name in rule.named) for cell in cells]
    value, interval = count_difference(
        [(one, other) for one, other in pairs],
        rule.beyond / 100,
        less_is_better=runs.analysis.metric.less_is_better,
    )
    n = min((len(side.values) for pair in pairs for side in pair if side.values), default=0)
    whose = (
        f"{rule.contender} better than {rule.against}, less worse, by more than {rule.beyond:g} %"
    )
    ends = f"{len(cells)} cells from {cells[0].title} to {cells[-1].title}"
    return Finding(f"{ends}: {whose}", value, interval, region, n, "%")


def _failures(cells: Sequence[Cell], rule: Failures) -> Finding:
    """The share of failures, with its exact interval (Clopper and Pearson 1934)."""
    sides = [side for cell in cells if (side := cell.side(rule.contender))]
    runs, failures = sum(side.runs for side in sides), sum(side.failures for side in sides)
    # An edge at 0 or 100 % can be met.
    region = Region(rule.low if rule.low > 0 else -1, rule.high if rule.high < 100 else 101)
    what = f"{rule.contender}: runs that failed"
    if not runs:
        return Finding(what, None, None, region, 0, "%")
    interval = share_interval(failures, runs).scaled(100)
    return Finding(what, 100 * failures / runs, interval, region, runs, "%")


def _in(cell: Cell, what: str) -> str:
    return f"{cell.title}: {what}" if cell.title else what
