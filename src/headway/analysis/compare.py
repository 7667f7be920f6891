"""Comparing two contenders within a cell: difference, pairs, tests, and a verdict."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from headway.analysis.effects import (
    cliffs_delta,
    delta,
    relative_difference,
    relative_interval,
)
from headway.analysis.intervals import Interval, median_interval
from headway.analysis.metric import Metric
from headway.analysis.sample import Measurements, Sample
from headway.analysis.significance import (
    TestResult,
    adjusted,
    kolmogorov_smirnov,
    mann_whitney,
    welch,
)
from headway.analysis.verdict import Basis, Spread, Verdict, direction, judge, negligible, spread


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

    @property
    def samples(self) -> tuple[Sample | None, Sample | None]:
        """Summaries of both."""
        return self.one.sample, self.other.sample

    @property
    def values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of both, in the order of seeds."""
        return self.one.values, self.other.values

    @property
    def identical(self) -> bool:
        """Whether several runs, paired by seed, measured the same one by one, though they vary."""
        one, other = self.one, self.other
        varies = one.sample is not None and not one.sample.constant
        return varies and (one.seeds, one.values) == (other.seeds, other.values)


@dataclass(frozen=True)
class Pairs:
    """Differences, contender minus the other, of runs that shared cell and seed.

    Attributes:
        n: number of pairs.
        faster: pairs in which the contender was the faster.
        slower: pairs in which it was the slower.
        median: median of the differences, in the metric's unit; None without pairs.
        interval: confidence interval of that median.
        variance_left: variance of the differences over that of differences between runs that share
            nothing, the sum of both variances: 1 if pairing tells nothing, 0 if it tells everything;
            None with fewer than two pairs, or if nothing varies.
    """

    n: int
    faster: int
    slower: int
    median: float | None
    interval: Interval | None
    variance_left: float | None

    @property
    def unanimous(self) -> Verdict | None:
        """The way that all of several pairs went; None if they did not all go one way."""
        if self.n > 1 and self.n == self.faster:
            return Verdict.FASTER
        return Verdict.SLOWER if self.n > 1 and self.n == self.slower else None


@dataclass(frozen=True)
class Comparison:
    """A contender against another within a cell.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        sample: summary of the contender's finished runs; None if there are none.
        against_sample: summary of the other's finished runs.
        relative: difference of medians over the other's median; negative is less.
        relative_interval: confidence interval of that.
        delta: difference of medians over the larger median; of h3 against h2 it is H3-Delta.
        leaning: how the medians compare, be it chance or not; None if one is missing.
        pairs: differences by seed.
        welch: Welch's t-test, where defined.
        mann_whitney: Mann-Whitney U test, where defined.
        kolmogorov_smirnov: Kolmogorov-Smirnov test, where defined.
        cliffs_delta: effect size; -1 if every value is below every value of the other.
        verdict: what can be said.
        basis: what that rests on.
        spread: how the distributions differ, where neither is faster.
    """

    contender: str
    against: str
    sample: Sample | None
    against_sample: Sample | None
    relative: float | None
    relative_interval: Interval | None
    delta: float | None
    leaning: Verdict | None
    pairs: Pairs
    welch: TestResult | None
    mann_whitney: TestResult | None
    kolmogorov_smirnov: TestResult | None
    cliffs_delta: float | None
    verdict: Verdict
    basis: Basis
    spread: Spread | None

    @cached_property
    def pairing(self) -> Pairing:
        """What is compared with what."""
        return Pairing(self.contender, self.against)

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """The tests of place that are defined for these samples: they make the verdict."""
        return tuple(test for test in (self.welch, self.mann_whitney) if test)

    @property
    def negligible(self) -> bool:
        """Whether the medians are practically equal."""
        return negligible(self.sample, self.against_sample)

    @property
    def identical(self) -> bool:
        """Whether every run of one is equal to one of the other."""
        alike = self.basis is Basis.EVERY_RUN and self.verdict is Verdict.EQUAL
        return alike or self.basis is Basis.IDENTICAL

    @property
    def matters(self) -> bool:
        """Whether there is a difference that is neither chance nor negligible."""
        return self.verdict in (Verdict.FASTER, Verdict.SLOWER) and not self.negligible


def compare(contests: Sequence[Contest], metric: Metric) -> tuple[Comparison, ...]:
    """Compare the contenders of every contest.

    The contests are one family: of each test the p-values are adjusted for their number.
    """
    shapes = adjusted(kolmogorov_smirnov([met.values for met in contests]))
    return tuple(
        _comparison(met, places, shape, metric)
        for met, places, shape in zip(contests, _tests_of_place(contests), shapes, strict=True)
    )


def clearly_slower(contests: Sequence[Contest], metric: Metric) -> list[bool]:
    """In which contests the contender is slower, significantly and by more than a trifle."""
    return [
        judge(*met.samples, places, metric)[0] is Verdict.SLOWER and not negligible(*met.samples)
        for met, places in zip(contests, _tests_of_place(contests), strict=True)
    ]


_TestsOfPlace = tuple[TestResult | None, TestResult | None]


def _tests_of_place(contests: Sequence[Contest]) -> Iterable[_TestsOfPlace]:
    """Welch's and Mann and Whitney's tests of all contests, adjusted for their number."""
    welchs = adjusted(welch([met.samples for met in contests]))
    ranks = adjusted(mann_whitney([met.values for met in contests]))
    return zip(welchs, ranks, strict=True)


def _comparison(
    met: Contest,
    places: _TestsOfPlace,
    shape: TestResult | None,
    metric: Metric,
) -> Comparison:
    one, other = met.samples
    verdict, basis = judge(one, other, places, metric)
    if met.identical:
        verdict, basis = Verdict.EQUAL, Basis.IDENTICAL
    return Comparison(
        contender=met.pairing.contender,
        against=met.pairing.against,
        sample=one,
        against_sample=other,
        relative=relative_difference(one, other),
        relative_interval=relative_interval(met.one, met.other),
        delta=delta(one, other),
        leaning=direction(one.median - other.median, metric) if one and other else None,
        pairs=_pair(met.one, met.other, metric),
        welch=places[0],
        mann_whitney=places[1],
        kolmogorov_smirnov=shape,
        cliffs_delta=cliffs_delta(*met.values),
        verdict=verdict,
        basis=basis,
        spread=spread(verdict, one, other, shape),
    )


def _pair(one: Measurements, other: Measurements, metric: Metric) -> Pairs:
    ours, theirs = _by_seed(one), _by_seed(other)
    pairs = [
        pair
        for seed in ours.keys() & theirs.keys()
        for pair in zip(ours[seed], theirs[seed], strict=False)
    ]
    differences = sorted(first - second for first, second in pairs)
    less = sum(difference < 0 for difference in differences)
    more = sum(difference > 0 for difference in differences)
    return Pairs(
        n=len(differences),
        faster=less if metric.less_is_better else more,
        slower=more if metric.less_is_better else less,
        median=statistics.median(differences) if differences else None,
        interval=median_interval(differences),
        variance_left=_variance_left(pairs),
    )


def _variance_left(pairs: Sequence[tuple[float, float]]) -> float | None:
    if len(pairs) < 2:
        return None
    ones, others = zip(*pairs, strict=True)
    apart = statistics.variance(ones) + statistics.variance(others)
    return statistics.variance([one - other for one, other in pairs]) / apart if apart else None


def _by_seed(measured: Measurements) -> dict[int, list[float]]:
    """Values by seed; a seed that was used twice gives its values in order of repetition."""
    values: dict[int, list[float]] = defaultdict(list)
    for run in measured.observations:
        values[run.seed].append(run.value)
    return values
