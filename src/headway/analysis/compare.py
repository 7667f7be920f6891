"""Comparing two contenders within a cell: difference, pairs, tests, and a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from headway.analysis.difference import NEGLIGIBLE, Difference, differences
from headway.analysis.effects import cliffs_delta, delta
from headway.analysis.intervals import median_interval
from headway.analysis.metric import Metric
from headway.analysis.sample import Measurements, SampleSummary
from headway.analysis.significance import (
    TestResult,
    adjusted,
    at_looks,
    fewest_runs,
    interval_level,
    kolmogorov_smirnov,
    mann_whitney,
    welch,
    wilcoxon,
)
from headway.analysis.verdict import Basis, SpreadVerdict, Verdict, direction, judge, spread
from headway.planning.enough import PAIRED_ALPHA, fewest_pairs
from headway.statistics.interval import LEVEL, Interval


@dataclass(frozen=True, order=True)
class Pairing:
    """What is compared: a contender, and what it is held against."""

    contender: str
    against: str

    def __str__(self) -> str:
        return f"{self.contender} against {self.against}"


@dataclass(frozen=True)
class Contest:
    """Two contenders that meet in a cell, with what they measured there."""

    pairing: Pairing
    one: Measurements
    other: Measurements

    def judged(self, metric: Metric) -> Contest:
        """The same with what the metric is judged by in place of its values."""
        return Contest(self.pairing, metric.judged(self.one), metric.judged(self.other))

    @property
    def looks(self) -> int:
        """How often results were looked at, to stop or to go on."""
        return max(self.one.looks, self.other.looks)

    @property
    def samples(self) -> tuple[SampleSummary | None, SampleSummary | None]:
        """Summaries of both."""
        return self.one.sample, self.other.sample

    @property
    def values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of both, in the order of seeds."""
        return self.one.values, self.other.values

    def ranked(self, metric: Metric) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of both, with runs that timed out as the worst of all."""
        worst = math.inf if metric.less_is_better else 0.0
        return self.one.with_given_up(worst), self.other.with_given_up(worst)


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
    contests: Sequence[Contest], metric: Metric, least_level: float = LEVEL
) -> tuple[Comparison, ...]:
    """Compare the contenders of every contest.

    The contests are one family: of each test the p-values are adjusted for their number, and so are the
    intervals of what a test of the family decides.

    Args:
        contests: who meets whom.
        metric: what was measured.
        least_level: confidence that intervals have at least, if they are of a larger family.
    """
    judged = [met.judged(metric) for met in contests]
    apart = [differences(met.one, met.other, metric) for met in judged]
    family = _deciding(judged, apart, metric)
    # What cannot be significant whatever it shows is no member: it would only blunt the rest.
    members = [test for test in family.tests if test and test.family]
    level = max(least_level, interval_level(members))
    apart = [
        differences(met.one, met.other, metric, level) if test and test.family else found
        for met, found, test in zip(judged, apart, family.tests, strict=True)
    ]
    looks = [met.looks for met in contests]
    welchs = adjusted(at_looks(welch([met.samples for met in judged]), looks))
    ranks = adjusted(at_looks(mann_whitney([met.values for met in judged]), looks))
    shapes = adjusted(at_looks(kolmogorov_smirnov([met.values for met in contests]), looks))
    views = zip(welchs, ranks, shapes, strict=True)
    found = zip(contests, judged, apart, family.tests, views, strict=True)
    return tuple(_comparison(*one, metric, family.needed(one[0], one[2])) for one in found)


def clearly_slower(contests: Sequence[Contest], metric: Metric) -> list[bool]:
    """In which contests the contender is slower, significantly and by more than a trifle."""
    judged = [met.judged(metric) for met in contests]
    apart = [differences(met.one, met.other, metric) for met in judged]
    tests = _deciding(judged, apart, metric).tests
    return [
        judge(*met.samples, found, test, metric)[0] is Verdict.SLOWER and not _trifle(found)
        for met, found, test in zip(judged, apart, tests, strict=True)
    ]


def _trifle(found: Difference) -> bool:
    return found.relative is not None and abs(found.relative) < NEGLIGIBLE


@dataclass(frozen=True)
class _Family:
    """Comparisons that are judged together.

    Attributes:
        tests: of each the test that decides, adjusted for their number; None where nothing is to be tested.
        size: how many vary, those of too few runs included.
    """

    tests: tuple[TestResult | None, ...]
    size: int

    def needed(self, met: Contest, apart: Difference) -> int:
        """How many pairs, or runs of each, one of them needs to be significant whatever the others show."""
        fewest = fewest_pairs if apart.logs else fewest_runs
        return fewest(max(1, self.size) * met.looks)


def _deciding(contests: Sequence[Contest], apart: Sequence[Difference], metric: Metric) -> _Family:
    """The one test that decides each contest, adjusted for their number.

    Of pairs, if runs share seeds, else of places. What each contender always measured alike is not tested.
    """
    testable = [
        not (one and other and one.constant and other.constant) or any(map(math.isinf, found.logs))
        for (one, other), found in zip((met.samples for met in contests), apart, strict=True)
    ]
    paired = wilcoxon(
        [found.logs if tested else () for found, tested in zip(apart, testable, strict=True)]
    )
    unpaired = mann_whitney(
        [
            met.ranked(metric) if tested and not found.logs else ((), ())
            for met, found, tested in zip(contests, apart, testable, strict=True)
        ]
    )
    tests = at_looks(
        [
            one or (replace(other, alpha=PAIRED_ALPHA) if other else None)
            for one, other in zip(paired, unpaired, strict=True)
        ],
        [met.looks for met in contests],
    )
    members = iter(adjusted([test for test in tests if test and test.can_decide]))
    return _Family(
        tuple(next(members) if test and test.can_decide else _untold(test) for test in tests),
        sum(test is not None for test in tests),
    )


def _untold(test: TestResult | None) -> TestResult | None:
    """A test that cannot decide, so of no family; None of a single pair, or of a single run of each."""
    return replace(test, family=0) if test and test.smallest_p < 1 else None


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
    one, other = met.samples
    verdict, basis = judge(*judged.samples, apart, test, metric)
    return Comparison(
        contender=met.pairing.contender,
        against=met.pairing.against,
        sample=one,
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
        spread=None if basis is Basis.TOO_FEW else spread(verdict, one, other, shape),
        needed=needed,
    )


def _compared(judged: Contest, metric: Metric) -> tuple[float, float] | None:
    one, other = judged.samples
    return (one.median, other.median) if metric.best is not None and one and other else None


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
    one, other = (statistics.median(values) for values in zip(*pairs, strict=True))
    return one, other


def _variance_left(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 2:
        return None
    ones, others = zip(*pairs, strict=True)
    apart = statistics.variance(ones) + statistics.variance(others)
    return statistics.variance([one - other for one, other in pairs]) / apart if apart else None
