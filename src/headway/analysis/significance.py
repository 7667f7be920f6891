"""Tests of two samples, safe for constant and tiny ones, and their correction for number.

scipy's tests take longer to load than reading a small study, so they are loaded when samples are first tested.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headway.analysis.exact import kolmogorov_smirnov_p, tied_mann_whitney
from headway.analysis.paired import signed_ranks
from headway.analysis.sample import SampleSummary
from headway.statistics.distributions import kolmogorov_tail
from headway.statistics.interval import LEVEL
from headway.statistics.pairs import PAIRED_ALPHA
from headway.statistics.ranks import false_discovery_adjusted

WELCH_ALPHA = 0.01
MANN_WHITNEY_ALPHA = 0.005
KOLMOGOROV_SMIRNOV_ALPHA = 0.01

MOST_EXACT = 2_500
"""Mann-Whitney's exact distribution is used up to this product of the sample sizes."""
MOST_EXACT_TIED = 400
"""The same where values are tied: then every pair of samples has a distribution of its own."""
MOST_EXACT_KOLMOGOROV_SMIRNOV = 10_000
"""Kolmogorov and Smirnov's exact distribution is used up to this product."""


@dataclass(frozen=True)
class TestResult:
    """A two-sided test of two samples.

    Attributes:
        name: the test.
        statistic: its statistic.
        p: two-sided p-value of this test alone.
        alpha: level below which the adjusted p-value counts as significant.
        smallest_p: the smallest p-value that samples of these sizes can give; adjusted as ``p`` is, the other
            members of its family being what they are.
        method: how ``p`` was computed.
        adjusted: p-value adjusted for the number of comparisons.
        family: number of comparisons that it was adjusted for; 0 of one that takes no part, because its runs are
            too few whatever they show.
    """

    __test__ = False  # not a test case, whatever pytest makes of the name

    name: str
    statistic: float
    p: float
    alpha: float
    smallest_p: float
    method: str
    adjusted: float
    family: int = 1

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is below the level."""
        return self.adjusted < self.alpha

    @property
    def can_decide(self) -> bool:
        """Whether samples of these sizes could be significant at all."""
        return self.smallest_p < self.alpha


def adjusted(tests: Sequence[TestResult | None]) -> list[TestResult | None]:
    """The tests of a family of comparisons with p-values adjusted for their number.

    Benjamini and Hochberg (1995): among the differences called significant, the share of false
    ones is expected to be below the level. Tests that are not defined are not counted.
    """
    family = [test for test in tests if test]
    if not family:
        return list(tests)
    ps = np.array([test.p for test in family])
    values = iter(false_discovery_adjusted(ps))
    smallest = iter(_smallest_adjusted(ps, [test.smallest_p for test in family]))
    return [
        replace(test, adjusted=float(next(values)), smallest_p=next(smallest), family=len(family))
        if test
        else None
        for test in tests
    ]


def _smallest_adjusted(ps: NDArray[np.float64], smallest: Sequence[float]) -> list[float]:
    """What each p-value would be adjusted to if it were the smallest that its samples can give."""
    known: dict[tuple[float, float], float] = {}
    for place, (p, least) in enumerate(zip(ps.tolist(), smallest, strict=True)):
        if (p, least) not in known:
            others = ps.copy()
            others[place] = least
            known[p, least] = float(false_discovery_adjusted(others)[place])
    return [known[p, least] for p, least in zip(ps.tolist(), smallest, strict=True)]


def at_looks(tests: Sequence[TestResult | None], looks: Sequence[int]) -> list[TestResult | None]:
    """The tests of results that were looked at so often, to stop or to go on.

    Their p-values times the number of looks (Bonferroni) hold whatever decides which look is the last.
    """
    return [
        replace(
            test,
            p=min(1.0, test.p * count),
            smallest_p=min(1.0, test.smallest_p * count),
            adjusted=min(1.0, test.adjusted * count),
        )
        if test and count > 1
        else test
        for test, count in zip(tests, looks, strict=True)
    ]


def interval_level(family: Sequence[TestResult]) -> float:
    """The level of each interval of a family of adjusted tests, for all of them together.

    Benjamini and Yekutieli (2005): if R of m differences are significant by Benjamini and Hochberg at 5 %,
    intervals with an error of R / m times 5 % each leave out "no difference" exactly where the difference is
    significant, and of the intervals of those differences 5 % are expected to miss the true one. Where none
    is, R is 1.
    """
    significant = sum(test.significant for test in family)
    return 1 - PAIRED_ALPHA * max(1, significant) / len(family) if family else LEVEL


def wilcoxon(logs: Sequence[Sequence[float]]) -> list[TestResult | None]:
    """Signed rank tests of the logarithms of pairs' ratios; None if all are equal or there are none."""
    all_signed_ranks = [signed_ranks(log) for log in logs]
    return [
        TestResult(
            name="Wilcoxon",
            statistic=ranks.statistic,
            p=ranks.p,
            alpha=PAIRED_ALPHA,
            smallest_p=ranks.smallest_p,
            method="exact" if ranks.exact else "normal approximation",
            adjusted=ranks.p,
        )
        if ranks
        else None
        for ranks in all_signed_ranks
    ]


def bonferroni(tests: Sequence[TestResult | None]) -> list[TestResult | None]:
    """The tests of a small family with p-values adjusted for their number by Bonferroni.

    The chance that any of the differences called significant is none stays below the level, and so does the
    chance that any interval with its share of the error misses. What cannot be significant among so many is told.
    """
    count = sum(map(bool, tests))
    return [
        replace(
            test,
            adjusted=min(1.0, count * test.p),
            smallest_p=min(1.0, count * test.smallest_p),
            family=count,
        )
        if test
        else None
        for test in tests
    ]


def welch(
    pairs: Sequence[tuple[SampleSummary | None, SampleSummary | None]],
) -> list[TestResult | None]:
    """Welch's t-tests of equal means (Welch 1947) of pairs of samples; None if not defined.

    Not defined for a sample of one, nor if neither sample varies.
    """
    test_results: list[TestResult | None] = [None] * len(pairs)
    moments = {
        place: (first.mean, first.sd, first.n, other.mean, other.sd, other.n)
        for place, (first, other) in enumerate(pairs)
        if first
        and other
        and first.n > 1
        and other.n > 1
        and not (first.constant and other.constant)
    }
    if not moments:
        return test_results
    from scipy import stats

    mean1, sd1, n1, mean2, sd2, n2 = np.array(list(moments.values()), dtype=float).T
    result = stats.ttest_ind_from_stats(mean1, sd1, n1, mean2, sd2, n2, equal_var=False)
    numbers = np.column_stack([result.statistic, result.pvalue]).tolist()
    for place, (statistic, p) in zip(moments, numbers, strict=True):
        if not math.isnan(p):  # else the variances vanish in floating point: as good as constant
            test_results[place] = TestResult(
                "Welch", statistic, p, WELCH_ALPHA, 0.0, "t distribution", adjusted=p
            )
    return test_results


Values = Sequence[float]


def mann_whitney(pairs: Sequence[tuple[Values, Values]]) -> list[TestResult | None]:
    """Mann-Whitney U tests (Mann and Whitney 1947) of pairs of samples; None if not defined.

    Exact where that is feasible, ties included; else the normal approximation with corrections
    for ties and continuity. Not defined for an empty sample, nor if neither sample varies: then
    there is nothing to test.
    """
    test_results: list[TestResult | None] = [None] * len(pairs)
    alike = _alike(pairs)
    if not alike:
        return test_results
    from scipy import stats

    for (n, m, tied), places in alike.items():
        exact = n * m <= (MOST_EXACT_TIED if tied else MOST_EXACT)
        ones, others = zip(*(pairs[place] for place in places), strict=True)
        method: Literal["exact", "asymptotic"] = "exact" if exact and not tied else "asymptotic"
        result = stats.mannwhitneyu(ones, others, axis=1, method=method)
        ps = tied_mann_whitney(ones, others) if exact and tied else result.pvalue
        for place, statistic, p in zip(places, result.statistic, ps, strict=True):
            test_results[place] = TestResult(
                name="Mann-Whitney",
                statistic=float(statistic),
                p=float(p),
                alpha=MANN_WHITNEY_ALPHA,
                smallest_p=_smallest_p(n, m),
                method="exact" if exact else "normal approximation",
                adjusted=float(p),
            )
    return test_results


def kolmogorov_smirnov(pairs: Sequence[tuple[Values, Values]]) -> list[TestResult | None]:
    """Two-sample Kolmogorov-Smirnov tests of equal distributions (Smirnov 1939).

    Sensitive to any difference, spread and shape included; exact where that is feasible, and
    ties make it conservative. None for an empty sample, and if neither sample varies.
    """
    test_results: list[TestResult | None] = [None] * len(pairs)
    for (n, m, _), places in _alike(pairs).items():
        exact = n * m <= MOST_EXACT_KOLMOGOROV_SMIRNOV
        distances = _distances(*zip(*(pairs[place] for place in places), strict=True))
        for place, distance in zip(places, distances, strict=True):
            statistic = distance / (n * m)
            if exact:
                p = kolmogorov_smirnov_p(n, m, distance)
            else:
                p = kolmogorov_tail(statistic, round(n * m / (n + m)))
            test_results[place] = TestResult(
                name="Kolmogorov-Smirnov",
                statistic=statistic,
                p=p,
                alpha=KOLMOGOROV_SMIRNOV_ALPHA,
                smallest_p=_smallest_p(n, m),
                method="exact" if exact else "asymptotic",
                adjusted=p,
            )
    return test_results


def _distances(ones: Sequence[Values], others: Sequence[Values]) -> list[int]:
    """The greatest distance of the empirical distribution functions, times both sizes."""
    n, m = len(ones[0]), len(others[0])
    both = np.concatenate([ones, others], axis=1)
    order = both.argsort(axis=1)
    apart = np.abs(np.where(order < n, m, -n).cumsum(axis=1))
    ordered = np.take_along_axis(both, order, axis=1)
    apart[:, :-1][ordered[:, :-1] == ordered[:, 1:]] = 0  # amid equal values there is no step
    return [int(distance) for distance in apart.max(axis=1)]


def _alike(pairs: Sequence[tuple[Values, Values]]) -> dict[tuple[int, int, bool], list[int]]:
    """Places of pairs that can be tested at once: of the same sizes, with ties or without.

    Pairs for which the rank tests are not defined are left out.
    """
    places: dict[tuple[int, int, bool], list[int]] = defaultdict(list)
    for place, (first, other) in enumerate(pairs):
        if first and other and not (_constant(first) and _constant(other)):
            tied = len({*first, *other}) < len(first) + len(other)
            places[len(first), len(other), tied].append(place)
    return places


def fewest_runs(comparisons: int = 1) -> int:
    """The smallest number of runs of each that can be significant without pairs, alone among so many comparisons."""
    return next(n for n in itertools.count(1) if _smallest_p(n, n) * comparisons < PAIRED_ALPHA)


@lru_cache(maxsize=1024)
def _smallest_p(number: int, other: int) -> float:
    """The p-value of samples that do not overlap, of both rank tests."""
    return min(1.0, 2 / math.comb(number + other, number))


def _constant(values: Values) -> bool:
    return min(values) == max(values)
