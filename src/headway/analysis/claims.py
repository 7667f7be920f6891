"""Claims judged by our runs: each holds, does not hold, or is undecided.

Every rule comes down to estimates with intervals, and to a region in which each has to lie: inside it
the claim holds, outside it does not, and an interval that reaches over its edge leaves it open. Intervals
are of 95 % each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, Side
from headway.analysis.compare import Contest, Pairing, compare
from headway.analysis.correlation import rank_correlation
from headway.analysis.intervals import Interval, share_interval
from headway.analysis.sample import Sample
from headway.study.claim import (
    USUAL_TOLERANCE,
    Claim,
    Correlation,
    Equal,
    Failures,
    Gap,
    Monotone,
    Order,
    Trend,
    Value,
)
from headway.study.published import Statistic
from headway.study.units import magnitude

FEWEST_RUNS = 6
"""Of fewer, no interval of a median has 95 %."""
_MOST_REPETITIONS = 100_000
"""Above this, nobody will carry them out."""


class Judgement(StrEnum):
    """What our runs say of a claim."""

    HOLDS = "holds"
    BROKEN = "does not hold"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Region:
    """Where a quantity has to lie."""

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def around(cls, value: float) -> Region:
        """About a published value."""
        off = USUAL_TOLERANCE * abs(value)
        return cls(value - off, value + off)

    def holds(self, interval: Interval) -> bool:
        """Whether all of an interval is inside."""
        return self.low < interval.low and interval.high < self.high

    def excludes(self, interval: Interval) -> bool:
        """Whether none of an interval is inside; its edge is outside."""
        return interval.high <= self.low or interval.low >= self.high

    def distance(self, value: float) -> float:
        """From a value to the nearer edge."""
        return min(abs(value - self.low), abs(value - self.high))


@dataclass(frozen=True)
class Finding:
    """One estimate, and where it has to lie.

    Attributes:
        what: what is estimated: a cell, or two neighbours on an axis.
        value: the estimate; None if nothing was measured.
        interval: its confidence interval; None of too few runs.
        region: where it has to lie.
        n: number of runs, or pairs of runs, that it rests on.
        unit: of value, interval and region.
    """

    what: str
    value: float | None
    interval: Interval | None
    region: Region
    n: int
    unit: str

    @property
    def judgement(self) -> Judgement:
        """What it says."""
        if self.value is None:
            return Judgement.NOT_MEASURED
        if self.interval is None or not self.interval.reaches_level:
            return Judgement.UNDECIDED
        if self.region.holds(self.interval):
            return Judgement.HOLDS
        return Judgement.BROKEN if self.region.excludes(self.interval) else Judgement.UNDECIDED

    @property
    def needed(self) -> int | None:
        """About how many runs would decide; None if it is decided, or no number would.

        An interval's width falls with the square root of the number of runs.
        """
        if self.judgement is not Judgement.UNDECIDED or self.value is None:
            return None
        if self.interval is None or not self.interval.reaches_level:
            return FEWEST_RUNS if self.n < FEWEST_RUNS else None
        distance = self.region.distance(self.value)
        half = max(self.interval.high - self.value, self.value - self.interval.low)
        if distance <= 0 or not math.isfinite(half):
            return None
        needed = math.ceil(self.n * (half / distance) ** 2)
        return max(needed, self.n + 1) if needed <= _MOST_REPETITIONS else None


@dataclass(frozen=True)
class Judged:
    """A claim beside our runs.

    Attributes:
        claim: the claim.
        findings: what it rests on.
        judgement: what they say together.
    """

    claim: Claim
    findings: tuple[Finding, ...]
    judgement: Judgement

    @property
    def runs(self) -> int:
        """The fewest runs that a finding rests on."""
        return min((finding.n for finding in self.findings), default=0)

    @property
    def needed(self) -> int | None:
        """About how many repetitions would decide; None if it is decided, or no number would."""
        if self.judgement is not Judgement.UNDECIDED:
            return None
        wanted = [one.needed for one in self.findings if one.judgement is Judgement.UNDECIDED]
        known = [needed for needed in wanted if needed is not None]
        return max(known) if known and len(known) == len(wanted) else None


def judge(analysis: Analysis, claim: Claim) -> Judged:
    """Judge a claim by the runs of its experiment; the analysis is of the claim's metric."""
    grid = analysis.experiment.coordinates
    cells = [cell for cell in analysis.cells_as_studied if claim.is_about(grid.get(cell.name, {}))]
    match claim.rule:
        case Order(contenders=contenders):
            by_cell = [_order(analysis, cell, contenders) for cell in cells]
        case Gap() as rule:
            region = _region(rule.value, rule.low, rule.high)
            by_cell = [
                [_gap(analysis, cell, rule.contender, rule.against, region)] for cell in cells
            ]
        case Equal(contender=one, against=other, within=within):
            region = Region(-within, within)
            by_cell = [[_gap(analysis, cell, one, other, region)] for cell in cells]
        case Value() as rule:
            by_cell = [[_value(analysis, cell, rule)] for cell in cells]
        case Monotone() as rule:
            by_cell = [list(steps) for steps in _steps(analysis, cells, rule)]
        case Correlation() as rule:
            by_cell = [[_correlation(analysis, cells, rule)]]
        case Failures() as rule:
            by_cell = [[_failures(cells, rule)]]
    findings = tuple(finding for one in by_cell for finding in one)
    return Judged(claim, findings, _together([_all_of(one) for one in by_cell], claim.share))


def _all_of(findings: Iterable[Finding]) -> Judgement:
    """What has to hold in every part."""
    found = {finding.judgement for finding in findings}
    for judgement in (Judgement.BROKEN, Judgement.NOT_MEASURED, Judgement.UNDECIDED):
        if judgement in found:
            return judgement
    return Judgement.HOLDS if found else Judgement.NOT_MEASURED


def _together(cells: Sequence[Judgement], share: float) -> Judgement:
    """What has to hold in a share of the cells that were measured."""
    known = [judgement for judgement in cells if judgement is not Judgement.NOT_MEASURED]
    if not known:
        return Judgement.NOT_MEASURED
    enough = len(known) * share / 100
    holding, broken = (known.count(one) for one in (Judgement.HOLDS, Judgement.BROKEN))
    if holding >= enough:
        return Judgement.HOLDS
    return Judgement.BROKEN if len(known) - broken < enough else Judgement.UNDECIDED


def _order(analysis: Analysis, cell: Cell, contenders: Sequence[str]) -> list[Finding]:
    """Of neighbours in the order, the first one is better."""
    better = Region(high=0) if analysis.metric.less_is_better else Region(low=0)
    return [
        _gap(analysis, cell, one, other, better) for one, other in itertools.pairwise(contenders)
    ]


def _region(value: float | None, low: float | None, high: float | None) -> Region:
    if value is not None:
        return Region.around(value)
    return Region(-math.inf if low is None else low, math.inf if high is None else high)


def _gap(analysis: Analysis, cell: Cell, one: str, other: str, region: Region) -> Finding:
    """The relative difference of two contenders, in percent."""
    return _difference(
        analysis, _in(cell, f"{one} against {other}"), cell.side(one), cell.side(other), region
    )


def _difference(
    analysis: Analysis, what: str, one: Side | None, other: Side | None, region: Region
) -> Finding:
    if one is None or other is None or not (one.sample and other.sample):
        return Finding(what, None, None, region, 0, "%")
    contest = Contest(Pairing(one.contender, other.contender), one.measured, other.measured)
    found = compare([contest], analysis.metric)[0]
    value, interval = found.relative, found.relative_interval
    if value is not None and _always_alike(one.sample, other.sample):
        interval = Interval(value, value, 1.0, "every run")
    n = found.pairs.n or min(one.sample.n, other.sample.n)
    return Finding(
        what,
        None if value is None else 100 * value,
        interval.scaled(100) if interval else None,
        region,
        n,
        "%",
    )


def _always_alike(*samples: Sample) -> bool:
    """Whether all runs of each were equal, and there were several."""
    return all(sample.constant and sample.n > 1 for sample in samples)


def _value(analysis: Analysis, cell: Cell, rule: Value) -> Finding:
    region, unit = _region(rule.value, rule.low, rule.high), analysis.metric.unit
    side = cell.side(rule.contender)
    what = _in(cell, rule.contender)
    if side is None or side.sample is None:
        return Finding(what, None, None, region, 0, unit)
    sample = side.sample
    mean = rule.statistic is Statistic.MEAN
    value, interval = (
        (sample.mean, sample.mean_interval) if mean else (sample.median, sample.interval)
    )
    if _always_alike(sample):
        interval = Interval(value, value, 1.0, "every run")
    return Finding(what, value, interval, region, sample.n, unit)


def _steps(
    analysis: Analysis, cells: Sequence[Cell], rule: Monotone
) -> Iterator[Iterator[Finding]]:
    """Along the axis, from cell to cell that differ in nothing else."""
    region = Region(low=0) if rule.trend is Trend.RISING else Region(high=0)
    for row in _rows(analysis, cells, rule.axis):
        yield (
            _difference(
                analysis,
                f"{after.title} after {before.title}: {rule.contender}",
                after.side(rule.contender),
                before.side(rule.contender),
                region,
            )
            for before, after in itertools.pairwise(row)
        )


def _rows(analysis: Analysis, cells: Sequence[Cell], axis: str) -> list[list[Cell]]:
    """Cells that differ in an axis only, in its order."""
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        at = dict(analysis.experiment.coordinates.get(cell.name, {}))
        at.pop(axis, None)
        rows.setdefault(repr(at), []).append(cell)
    return list(rows.values())


def _correlation(analysis: Analysis, cells: Sequence[Cell], rule: Correlation) -> Finding:
    """Spearman's rank correlation of the axis and the metric over the cells."""
    region = Region(low=0) if rule.trend is Trend.RISING else Region(high=0)
    points = [
        (place, value)
        for cell in cells
        if (value := _level(analysis, cell, rule)) is not None
        and (place := magnitude(analysis.experiment.coordinates[cell.name].get(rule.axis)))
        is not None
    ]
    what = f"{' against '.join(rule.named)} and {rule.axis}"
    value, interval = rank_correlation(points)
    return Finding(what, value, interval, region, len(points), "")


def _level(analysis: Analysis, cell: Cell, rule: Correlation) -> float | None:
    side = cell.side(rule.contender)
    if side is None or side.sample is None:
        return None
    if rule.against is None:
        return side.sample.median
    return _gap(analysis, cell, rule.contender, rule.against, Region()).value


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
