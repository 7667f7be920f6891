"""The rules of claims: from a rule and our runs to estimates, and where they have to lie."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from headway.analysis.analysis import Analysis
from headway.analysis.causes import rest_without
from headway.analysis.cells import Cell
from headway.analysis.claim_estimate import Finding
from headway.analysis.claimruns import ClaimRuns, Group, Place, always_alike
from headway.analysis.correlation import rank_correlation
from headway.analysis.spread import scatter_ratio
from headway.analysis.win_counts import count_difference
from headway.errors import HeadwayError, counted
from headway.modules import instrument_modules
from headway.planning.region import Region, failure_region
from headway.statistics.interval import Interval, share_interval
from headway.statistics.quantiles import fewest_below, quantile
from headway.study.claim import (
    CellCounts,
    Claim,
    Correlation,
    Equal,
    Failures,
    Gap,
    Monotone,
    Order,
    Quantile,
    Spread,
    Trend,
    Value,
)
from headway.study.published import Statistic
from headway.study.units import magnitude

_UP, _DOWN = Region(low=0), Region(high=0)


def findings_by_cell(analysis: Analysis, claim: Claim) -> list[list[Finding]]:
    """What a claim rests on: for each cell, or row of cells, what has to lie where."""
    runs = ClaimRuns(analysis, claim)
    if isinstance(claim.rule, Order | CellCounts):
        runs = runs.judged()
    groups = runs.groups()
    return _findings(runs, groups, claim)


def causes_by_cell(analysis: Analysis, claim: Claim) -> list[list[Finding]]:
    """What is left of a claim's differences without the cause that it names, likewise; nothing if it names none."""
    if claim.because is None or not claim.because.without:
        return []
    runs = ClaimRuns(analysis, claim)
    if isinstance(claim.rule, Order):
        runs = runs.judged()
    return [
        [rest_without(runs, place, claim.because) for place in places]
        for places in _places(runs, runs.groups(), claim)
    ]


def pairs_of(claim: Claim) -> list[tuple[str, str]]:
    """Who is compared with whom by a claim's order, difference or equality."""
    return [*itertools.pairwise(claim.rule.named)]


def _places(runs: ClaimRuns, groups: Sequence[Group], claim: Claim) -> list[list[Place]]:
    """The differences that a rule is about, for each of its cells or rows of cells."""
    match claim.rule:
        case Order() | Gap():
            return [[runs.place(group, *pair) for pair in pairs_of(claim)] for group in groups]
        case Monotone() as rule:
            return [[*_steps(runs, row, rule)] for row in runs.rows(groups, rule.axis)]
        case _:
            return []


def _findings(runs: ClaimRuns, groups: Sequence[Group], claim: Claim) -> list[list[Finding]]:
    match claim.rule:
        case Order() as rule:
            better = _DOWN if runs.analysis.metric.less_is_better else _UP
            difference = partial(runs.difference, region=better, statistic=rule.statistic)
            return [[*map(difference, places)] for places in _places(runs, groups, claim)]
        case Gap() as rule:
            region = Region.of(rule.value, rule.low, rule.high)
            difference = partial(
                runs.difference, region=region, unit=rule.unit, statistic=rule.statistic
            )
            return [[*map(difference, places)] for places in _places(runs, groups, claim)]
        case Equal() as rule:
            region = Region(-rule.within, rule.within)
            difference = partial(runs.difference, statistic=rule.statistic)
            return [[difference(runs.place(group, *rule.named), region)] for group in groups]
        case Spread() as rule:
            return [[_spread(runs, group, rule)] for group in groups]
        case Value() as rule:
            return [[_value(runs, group, rule)] for group in groups]
        case Quantile() as rule:
            return [[_quantile(runs, group, rule)] for group in groups]
        case Monotone() as rule:
            difference = partial(
                runs.difference, region=_UP if rule.trend is Trend.RISING else _DOWN
            )
            return [[*map(difference, places)] for places in _places(runs, groups, claim)]
        case Correlation() as rule:
            return [[_correlation(runs, groups, rule)]]
        case CellCounts() as rule:
            return [[_counts(runs, row, rule)] for row in runs.rows(groups, rule.axis)]
        case Failures() as rule:
            return [[_failures(runs.cells(), rule)]]
        case rule:
            return _of_instruments(type(rule))(runs, groups, rule)


_FindingsOf = Callable[[ClaimRuns, Sequence[Group], Any], list[list[Finding]]]


@cache
def _of_instruments(rule: type) -> _FindingsOf:
    """What an instrument finds of claims with a rule.

    Raises:
        HeadwayError: none knows the rule.
    """
    known: dict[type, _FindingsOf] = {}
    for module in instrument_modules("rules"):
        known |= module.FINDINGS
    if rule in known:
        return known[rule]
    raise HeadwayError(f"no instrument judges claims by the rule {rule.__name__}")


def _spread(runs: ClaimRuns, group: Group, rule: Spread) -> Finding:
    """The ratio of two mean deviations from the median."""
    place = runs.place(group, *rule.named)
    first, other = runs.measured(*place.one), runs.measured(*place.other)
    value, interval = scatter_ratio(first.values, other.values)
    region = Region.of(None, rule.low, rule.high)
    n = min(len(first.values), len(other.values))
    return Finding(f"{place.what}, scatter", value, interval, region, n, "")


def _value(runs: ClaimRuns, group: Group, rule: Value) -> Finding:
    region, unit = Region.of(rule.value, rule.low, rule.high), runs.analysis.metric.unit
    measured, what = runs.measured(group, rule.named), runs.said(group, rule.contender)
    sample = runs.summary(measured)
    if runs.claim.over is not None and measured.given_up:
        what += f", {counted(len(measured.given_up), runs.counted)} of which timed out"
    if sample is None:
        return Finding(what, None, None, region, 0, unit)
    mean = rule.statistic is Statistic.MEAN
    value, interval = (
        (sample.mean, sample.mean_interval) if mean else (sample.median, sample.interval)
    )
    if mean and math.isinf(value):
        interval = None
    if always_alike(sample):
        interval = Interval(value, value, 1.0, "every run")
    repeated = runs.claim.over is None and sample.on_one_path
    return Finding(what, value, interval, region, sample.n, unit, runs.counted, repeated=repeated)


def _quantile(runs: ClaimRuns, group: Group, rule: Quantile) -> Finding:
    """A percentile, with its exact interval by the order of the runs; those that were given up are the worst."""
    region, unit = Region.of(None, rule.low, rule.high), runs.analysis.metric.unit
    measured = runs.measured(group, rule.named)
    what = f"{runs.said(group, rule.contender)}, p{rule.at:g}"
    worst = math.inf if runs.analysis.metric.less_is_better else -math.inf
    sample = runs.summary(measured)
    if sample is None:
        return Finding(what, None, None, region, 0, unit)
    values = [*measured.values, *(worst for _ in measured.given_up)]
    value, interval = quantile(values, rule.at / 100)
    if always_alike(sample) and not measured.given_up:
        interval = Interval(value, value, 1.0, "every run")
    fewest = max(
        fewest_below(rule.at / 100) if rule.high is not None else 0,
        fewest_below(1 - rule.at / 100) if rule.low is not None else 0,
    )
    return Finding(
        what, value, interval, region, len(values), unit, repeated=sample.on_one_path, fewest=fewest
    )


def _steps(runs: ClaimRuns, row: Sequence[Group], rule: Monotone) -> Iterator[Place]:
    """Along the axis, from group to group that differ in nothing else."""
    for before, after in itertools.pairwise(row):
        what = f"{runs.title(after)} after {runs.title(before)}: {' against '.join(rule.named)}"
        yield Place(what, (after, rule.named), (before, rule.named))


def _correlation(runs: ClaimRuns, groups: Sequence[Group], rule: Correlation) -> Finding:
    """Spearman's rank correlation of an axis, or a column, and the metric over the cells."""
    region = _UP if rule.trend is Trend.RISING else _DOWN
    points = [
        (place, value)
        for group in groups
        if (place := _level(runs, group, rule)) is not None
        and (value := _height(runs, group, rule)) is not None
    ]
    what = f"{' against '.join(rule.named)} and {rule.axis or rule.column}"
    value, interval = rank_correlation(points)
    return Finding(what, value, interval, region, len(points), "", of="cell")


def _level(runs: ClaimRuns, group: Group, rule: Correlation) -> float | None:
    """Where a cell is on the axis, or in the column."""
    (cell,) = group
    if rule.column is not None:
        return runs.column(cell, rule.contender, rule.column)
    return magnitude(runs.analysis.experiment.coordinates[cell.name].get(rule.axis or ""))


def _height(runs: ClaimRuns, group: Group, rule: Correlation) -> float | None:
    if rule.against is not None:
        value = runs.difference(runs.place(group, rule.contender, rule.against), Region()).value
        return value if value is not None and math.isfinite(value) else None
    sample = runs.measured(group, rule.named).sample
    return sample.median if sample else None


def _counts(runs: ClaimRuns, groups: Sequence[Group], rule: CellCounts) -> Finding:
    """Cells at which the contender is better, less those at which it is worse, in percent of all."""
    region = Region.of(None, rule.low, rule.high, has_edges=False)
    pairs = [tuple(runs.measured(group, (name,)) for name in rule.named) for group in groups]
    value, interval = count_difference(
        [(first, other) for first, other in pairs],
        rule.beyond / 100,
        less_is_better=runs.analysis.metric.less_is_better,
    )
    n = min((len(side.values) for pair in pairs for side in pair if side.values), default=0)
    whose = (
        f"{rule.contender} better than {rule.against}, less worse, by more than {rule.beyond:g} %"
    )
    ends = f"{len(groups)} cells from {runs.title(groups[0])} to {runs.title(groups[-1])}"
    return Finding(f"{ends}: {whose}", value, interval, region, n, "%")


def _failures(cells: Sequence[Cell], rule: Failures) -> Finding:
    """The share of failures, with its exact interval (Clopper and Pearson 1934)."""
    sides = [side for cell in cells if (side := cell.side(rule.contender))]
    runs, failures = sum(side.runs for side in sides), sum(side.failures for side in sides)
    region = failure_region(rule)
    what = f"{rule.contender}: runs that failed"
    if not runs:
        return Finding(what, None, None, region, 0, "%")
    interval = share_interval(failures, runs).scaled(100)
    return Finding(what, 100 * failures / runs, interval, region, runs, "%", events=failures)
