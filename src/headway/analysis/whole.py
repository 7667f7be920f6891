"""One contender against another over all cells of an experiment: one effect, one test.

Repetitions have the same seeds in all cells, hence partly the same luck. So the cells of a repetition are one
observation: the mean over cells of the logarithms of the ratios. These means are then what the pairs of a
cell are, and treated alike: each cell counts the same, and what differs between cells is not chance.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison, Pairing
from headway.analysis.difference import Difference, of_pairs
from headway.analysis.significance import TestResult, holm, wilcoxon
from headway.analysis.verdict import Verdict, direction

_MOST_LEVELS = 6
"""A factor with more levels is not told level by level."""


@dataclass(frozen=True)
class Level:
    """A level of a factor: the mean difference of its cells, and how many went the way of the whole."""

    title: str
    relative: float
    alike: int


@dataclass(frozen=True)
class Whole:
    """A contender against another over all cells in which both can be compared.

    Attributes:
        pairing: what is compared.
        difference: in the mean over cells, each repetition's cells one observation.
        leaning: which way it is.
        test: of these, adjusted for the number of such comparisons; None if nothing varies.
        cells: number of cells that it is of.
        pairs: pairs of runs in the cells, fewest and most.
        opposite: cells in which the verdict is the opposite.
        levels: of the factor over whose levels the difference varies most; empty if there is none.
    """

    pairing: Pairing
    difference: Difference
    leaning: Verdict
    test: TestResult | None
    cells: int
    pairs: tuple[int, int]
    opposite: int
    levels: tuple[Level, ...]

    @property
    def certain(self) -> bool:
        """Whether nothing varied between repetitions, so that nothing is left to a test."""
        interval = self.difference.interval
        return interval is not None and interval.low == interval.high

    @property
    def verdict(self) -> Verdict:
        """What can be said over all cells."""
        if self.certain or (self.test is not None and self.test.significant):
            return self.leaning
        return Verdict.EQUAL if self.difference.equivalent else Verdict.UNDECIDED


def wholes(analysis: Analysis) -> tuple[Whole, ...]:
    """Everything that is compared in two cells at least, over all of these cells.

    The tests of all are adjusted for their number by Holm, since these few are the answer.
    """
    found = [_mean(analysis, pairing) for pairing in analysis.pairings]
    means = [one for one in found if one]
    tests = holm(wilcoxon([() if _alike(one.logs) else one.logs for one in means]))
    return tuple(_whole(analysis, one, test) for one, test in zip(means, tests, strict=True))


@dataclass(frozen=True)
class _Mean:
    """What the cells of a comparison tell together: a logarithm for every repetition."""

    pairing: Pairing
    cases: tuple[tuple[Cell, Comparison], ...]
    logs: tuple[float, ...]


def _mean(analysis: Analysis, pairing: Pairing) -> _Mean | None:
    cases = tuple(
        (cell, one)
        for cell in analysis.cells
        if (one := cell.comparison(pairing)) and one.relative is not None and one.relative > -1
    )
    if len(cases) < 2 or not all(one.is_paired for _, one in cases):
        return None
    away: dict[int, list[float]] = defaultdict(list)
    for _, one in cases:
        for seed, log in zip(one.difference.seeds, _bounded(one.difference.logs), strict=True):
            away[seed].append(log - _log(one))
    centre = statistics.fmean(_log(one) for _, one in cases)
    # Where a run failed, its cell is taken to be as it is in the middle.
    logs = tuple(centre + math.fsum(found) / len(cases) for _, found in sorted(away.items()))
    return _Mean(pairing, cases, logs) if len(logs) > 1 else None


def _bounded(logs: Sequence[float]) -> list[float]:
    """A pair with a run that timed out counts as the cell's most extreme that finished."""
    finite = [log for log in logs if math.isfinite(log)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return [min(max(log, low), high) for log in logs]


def _log(one: Comparison) -> float:
    assert one.relative is not None
    return math.log1p(one.relative)


def _alike(logs: Sequence[float]) -> bool:
    return max(logs) - min(logs) < 1e-12


def _whole(analysis: Analysis, mean: _Mean, test: TestResult | None) -> Whole:
    logs = mean.logs
    difference = of_pairs([statistics.fmean(logs)] * len(logs) if _alike(logs) else logs)
    leaning = direction(difference.sign or 0, analysis.metric)
    counts = [one.pairs.n for _, one in mean.cases]
    verdicts = [one.verdict for _, one in mean.cases if one.matters]
    return Whole(
        pairing=mean.pairing,
        difference=difference,
        leaning=leaning,
        test=test,
        cells=len(mean.cases),
        pairs=(min(counts), max(counts)),
        opposite=sum(verdict is not leaning for verdict in verdicts),
        levels=_levels(analysis, mean.cases, leaning),
    )


def _levels(
    analysis: Analysis, cases: Sequence[tuple[Cell, Comparison]], leaning: Verdict
) -> tuple[Level, ...]:
    """The levels of the factor between whose levels the means vary most; of several, one alone."""
    factors = [
        _levels_of(cases, place, factor.titles, leaning)
        for place, factor in enumerate(analysis.conditions.factors)
        if 1 < len(factor.titles) <= _MOST_LEVELS
    ]
    return max(factors, key=_spread, default=())


def _levels_of(
    cases: Sequence[tuple[Cell, Comparison]], place: int, titles: Sequence[str], leaning: Verdict
) -> tuple[Level, ...]:
    groups: dict[int, list[Comparison]] = defaultdict(list)
    for cell, one in cases:
        groups[cell.levels[place]].append(one)
    return tuple(
        Level(
            title=titles[level],
            relative=math.expm1(statistics.fmean(map(_log, ones))),
            alike=sum(one.matters and one.verdict is leaning for one in ones),
        )
        for level, ones in sorted(groups.items())
    )


def _spread(levels: tuple[Level, ...]) -> float:
    return statistics.pvariance([math.log1p(level.relative) for level in levels])
