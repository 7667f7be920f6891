"""Comparing two contenders within a cell: difference, pairs, tests, and a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headway.analysis.contest import Contest, Pairing
from headway.analysis.decision import decide
from headway.analysis.difference import NEGLIGIBLE, Difference, differences
from headway.analysis.effects import cliffs_delta, delta
from headway.analysis.intervals import median_interval
from headway.analysis.metric import Metric
from headway.analysis.sample import SampleSummary
from headway.analysis.significance import (
    TestResult,
    adjusted,
    at_looks,
    interval_level,
    kolmogorov_smirnov,
    mann_whitney,
    welch,
)
from headway.analysis.verdict import Basis, SpreadVerdict, Verdict, direction, judge, spread
from headway.statistics.interval import LEVEL, Interval


@dataclass(frozen=True)
class Pairs:
    """Differences, contender minus the other, of runs that shared cell and seed.

    Attributes:
        n: number of pairs, those with a run that timed out among them.
        faster: pairs in which the contender was the faster.
        slower: pairs in which it was the slower.
        median: median of the differences of pairs that finished, in the metric's unit; None
            without such pairs.
        medians: of the pairs' values, contender and other, runs that timed out as the worst; None without pairs.
        interval: confidence interval of that median.
        variance_left: variance of the differences over that of differences between runs that share
            nothing, the sum of both variances: 1 if pairing tells nothing, 0 if it tells everything;
            None with fewer than two pairs, or if nothing varies.
    """

    n: int
    faster: int
    slower: int
    median: float | None
    medians: tuple[float, float] | None
    interval: Interval | None
    variance_left: float | None


@dataclass(frozen=True)
class Comparison:
    """A contender against another within a cell.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        sample: summary of the contender's finished runs; None if there are none.
        against_sample: summary of the other's finished runs.
        difference: how they differ, by pairs if there are any.
        delta: difference of medians over the larger median; of h3 against h2 it is H3-Delta.
        leaning: how they differ, be it chance or not; None if one has no runs.
        pairs: differences by seed.
        test: the test that makes the verdict; None where there is nothing to test.
        welch: Welch's t-test, where defined: a view of the same data without their pairs.
        mann_whitney: Mann-Whitney U test, where defined: likewise.
        kolmogorov_smirnov: Kolmogorov-Smirnov test, where defined.
        compared: medians of what the two are compared by, if that is not their values: of distances from the best one.
        cliffs_delta: effect size; -1 if every value is below every value of the other.
        verdict: what can be said.
        basis: what that rests on.
        spread: how the distributions differ, where neither is faster.
        needed: pairs, or runs of each without pairs, of which it could be significant alone among all comparisons.
    """

    contender: str
    against: str
    sample: SampleSummary | None
    against_sample: SampleSummary | None
    difference: Difference
    delta: float | None
    leaning: Verdict | None
    pairs: Pairs
    test: TestResult | None
    welch: TestResult | None
    mann_whitney: TestResult | None
    kolmogorov_smirnov: TestResult | None
    compared: tuple[float, float] | None
    cliffs_delta: float | None
    verdict: Verdict
    basis: Basis
    spread: SpreadVerdict | None
    needed: int

    @cached_property
    def pairing(self) -> Pairing:
        """What is compared with what."""
        return Pairing(self.contender, self.against)

    @property
    def relative(self) -> float | None:
        """The contender's values over the other's, less 1; None if nothing finite tells that."""
        return self.difference.relative

    @property
    def relative_interval(self) -> Interval | None:
        """Confidence interval of that."""
        return self.difference.interval

    @property
    def is_paired(self) -> bool:
        """Whether the two were compared by runs with the same seed."""
        return self.pairs.n > 0

    @property
    def on_one_path(self) -> bool:
        """Whether the runs of each are one run over and over: an exact path, of which n is really 1."""
        samples = self.sample, self.against_sample
        return all(sample is not None and sample.on_one_path for sample in samples)

    @property
    def is_one_way(self) -> bool:
        """Whether nothing of it points the other way: no pair, or without pairs no part of the interval."""
        if self.is_paired:
            return not (self.pairs.faster and self.pairs.slower)
        interval = self.difference.interval
        return interval is None or not interval.low < 0 < interval.high

    @property
    def negligible(self) -> bool:
        """Whether the two are practically equal, and that is shown and not merely possible."""
        if self.basis is Basis.EVERY_RUN:
            return self.relative is not None and abs(self.relative) < NEGLIGIBLE
        return self.difference.equivalent or self.identical

    @property
    def identical(self) -> bool:
        """Whether every run of one is equal to one of the other."""
        alike = self.basis is Basis.EVERY_RUN and self.verdict is Verdict.EQUAL
        return alike or self.basis is Basis.IDENTICAL

    @property
    def matters(self) -> bool:
        """Whether there is a difference that is neither chance nor a trifle."""
        if self.verdict not in (Verdict.FASTER, Verdict.SLOWER) or self.negligible:
            return False
        return self.relative is None or abs(self.relative) >= NEGLIGIBLE


def compare(
    contests: Sequence[Contest],
    metric: Metric,
    least_level: float = LEVEL,
    beside: Sequence[TestResult] = (),
) -> tuple[Comparison, ...]:
    """Compare the contenders of every contest.

    The contests are one family: of each test the p-values are adjusted for their number, and so are the
    intervals of what a test of the family decides.

    Args:
        contests: who meets whom.
        metric: what was measured.
        least_level: confidence that intervals have at least, if they are of a larger family.
        beside: tests of other comparisons that are of the same family, not adjusted.
    """
    judged = [met.judged(metric) for met in contests]
    apart = [differences(met.one, met.other, metric) for met in judged]
    family = decide(judged, apart, metric, beside)
    level = max(least_level, interval_level(family.members))
    apart = [
        differences(met.one, met.other, metric, level) if test and test.family else difference
        for met, difference, test in zip(judged, apart, family.tests, strict=True)
    ]
    looks = [met.looks for met in contests]
    welchs = adjusted(at_looks(welch([met.samples for met in judged]), looks))
    ranks = adjusted(at_looks(mann_whitney([met.values for met in judged]), looks))
    shapes = adjusted(at_looks(kolmogorov_smirnov([met.values for met in contests]), looks))
    views = zip(welchs, ranks, shapes, strict=True)
    result = zip(contests, judged, apart, family.tests, views, strict=True)
    return tuple(_comparison(*parts, metric, family.needed(parts[0], parts[2])) for parts in result)


def clearly_slower(contests: Sequence[Contest], metric: Metric) -> list[bool]:
    """In which contests the contender is slower, significantly and by more than a trifle."""
    judged = [met.judged(metric) for met in contests]
    apart = [differences(met.one, met.other, metric) for met in judged]
    tests = decide(judged, apart, metric).tests
    return [
        judge(*met.samples, difference, test, metric)[0] is Verdict.SLOWER
        and not _trifle(difference)
        for met, difference, test in zip(judged, apart, tests, strict=True)
    ]


def _trifle(difference: Difference) -> bool:
    return difference.relative is not None and abs(difference.relative) < NEGLIGIBLE


def _comparison(
    met: Contest,
    judged: Contest,
    apart: Difference,
    test: TestResult | None,
    views: tuple[TestResult | None, TestResult | None, TestResult | None],
    metric: Metric,
    needed: int,
) -> Comparison:
    means, ranks, shape = views
    first, other = met.samples
    verdict, basis = judge(*judged.samples, apart, test, metric)
    return Comparison(
        contender=met.pairing.contender,
        against=met.pairing.against,
        sample=first,
        against_sample=other,
        difference=apart,
        delta=delta(*judged.samples),
        leaning=None if apart.sign is None else direction(apart.sign, metric),
        pairs=_pair(met, apart, metric),
        test=test,
        welch=means,
        mann_whitney=ranks,
        kolmogorov_smirnov=shape,
        compared=_compared(judged, metric),
        cliffs_delta=cliffs_delta(*judged.values),
        verdict=verdict,
        basis=basis,
        spread=None if basis is Basis.TOO_FEW else spread(verdict, first, other, shape),
        needed=needed,
    )


def _compared(judged: Contest, metric: Metric) -> tuple[float, float] | None:
    first, other = judged.samples
    return (first.median, other.median) if metric.best is not None and first and other else None


def _pair(met: Contest, apart: Difference, metric: Metric) -> Pairs:
    ours, theirs = met.one.ranked(math.nan), met.other.ranked(math.nan)
    pairs = [
        pair
        for seed in ours.keys() & theirs.keys()
        for pair in zip(ours[seed], theirs[seed], strict=False)
        if not math.isnan(pair[0]) and not math.isnan(pair[1])
    ]
    finished = sorted(first - second for first, second in pairs)
    less = sum(log < 0 for log in apart.logs)
    more = sum(log > 0 for log in apart.logs)
    return Pairs(
        n=len(apart.logs),
        faster=less if metric.less_is_better else more,
        slower=more if metric.less_is_better else less,
        median=statistics.median(finished) if finished else None,
        medians=_medians(met, math.inf if metric.less_is_better else 0.0),
        interval=median_interval(finished, apart.interval.level if apart.interval else LEVEL),
        variance_left=_variance_left(pairs),
    )


def _medians(met: Contest, worst: float) -> tuple[float, float] | None:
    ours, theirs = met.one.ranked(worst), met.other.ranked(worst)
    pairs = [
        pair
        for seed in ours.keys() & theirs.keys()
        for pair in zip(ours[seed], theirs[seed], strict=False)
    ]
    if not pairs:
        return None
    first, other = (statistics.median(values) for values in zip(*pairs, strict=True))
    return first, other


def _variance_left(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 2:
        return None
    ones, others = zip(*pairs, strict=True)
    apart = statistics.variance(ones) + statistics.variance(others)
    return statistics.variance([first - other for first, other in pairs]) / apart if apart else None
