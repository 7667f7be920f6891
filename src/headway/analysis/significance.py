"""Tests of two samples, safe for constant and tiny ones, and their correction for number."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from headway.analysis.sample import Sample

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
        smallest_p: the smallest p-value that samples of these sizes can give.
        method: how ``p`` was computed.
        adjusted: p-value adjusted for the number of comparisons.
        family: number of comparisons that it was adjusted for.
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
    ps = [test.p for test in tests if test]
    if not ps:
        return list(tests)
    found = iter(stats.false_discovery_control(ps))
    return [
        replace(test, adjusted=float(next(found)), family=len(ps)) if test else None
        for test in tests
    ]


def welch(one: Sample | None, other: Sample | None) -> TestResult | None:
    """Welch's t-test of equal means (Welch 1947); None if it is not defined.

    It is not defined for a sample of one, nor if neither sample varies.
    """
    if one is None or other is None or one.sd is None or other.sd is None:
        return None
    if one.constant and other.constant:
        return None
    result = stats.ttest_ind_from_stats(
        one.mean, one.sd, one.n, other.mean, other.sd, other.n, equal_var=False
    )
    statistic, p = float(result.statistic), float(result.pvalue)
    if math.isnan(p):
        return None  # the variances vanish in floating point: as good as constant
    return TestResult("Welch", statistic, p, WELCH_ALPHA, 0.0, "t distribution", p)


Values = Sequence[float]


def mann_whitney(pairs: Sequence[tuple[Values, Values]]) -> list[TestResult | None]:
    """Mann-Whitney U tests (Mann and Whitney 1947) of pairs of samples; None if not defined.

    Exact where that is feasible, ties included; else the normal approximation with corrections
    for ties and continuity, of samples of equal sizes in one go. Not defined for an empty sample,
    nor if neither sample varies: then there is nothing to test.
    """
    found: list[TestResult | None] = [None] * len(pairs)
    large: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (one, other) in enumerate(pairs):
        if not one or not other or (_constant(one) and _constant(other)):
            continue
        tied = len({*one, *other}) < len(one) + len(other)
        if len(one) * len(other) > (MOST_EXACT_TIED if tied else MOST_EXACT):
            large[len(one), len(other)].append(place)
        else:
            found[place] = _mann_whitney(one, other, _exact_mann_whitney(one, other), "exact")
    for places in large.values():
        ones, others = zip(*(pairs[place] for place in places), strict=True)
        result = stats.mannwhitneyu(ones, others, axis=1, method="asymptotic")
        for place, u, p in zip(places, result.statistic, result.pvalue, strict=True):
            found[place] = _mann_whitney(
                *pairs[place], (float(u), float(p)), "normal approximation"
            )
    return found


def _mann_whitney(
    one: Values, other: Values, result: tuple[float, float], method: str
) -> TestResult:
    u, p = result
    smallest = _smallest_p(len(one), len(other))
    return TestResult("Mann-Whitney", u, p, MANN_WHITNEY_ALPHA, smallest, method, p)


def _exact_mann_whitney(one: Values, other: Values) -> tuple[float, float]:
    """U of the first sample and its exact p-value, twice the smaller tail."""
    size = len(one)
    ranks = np.rint(2 * stats.rankdata([*one, *other])).astype(int)
    at_most, at_least = _tails(tuple(sorted(ranks.tolist())), size)
    found = int(ranks[:size].sum())
    u = found / 2 - size * (size + 1) / 2
    return u, min(1.0, 2 * float(min(at_most[found], at_least[found])))


@lru_cache(maxsize=64)
def _tails(ranks: tuple[int, ...], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities that ``size`` doubled ranks drawn at random sum to at most, and at least, s.

    Counts the ways to draw them by their sum, one rank after the other: the shift algorithm of
    Streitberg and Roehmel (1986). Ranks are doubled to be whole where values are tied.
    """
    counts = np.zeros((size + 1, sum(ranks) + 1))
    counts[0, 0] = 1
    for rank in ranks:
        counts[1:, rank:] += counts[:-1, :-rank].copy()
    ways = counts[size]
    at_most, at_least = ways.cumsum(), ways[::-1].cumsum()[::-1]
    return at_most / at_most[-1], at_least / at_least[0]


def kolmogorov_smirnov(one: Values, other: Values) -> TestResult | None:
    """Two-sample Kolmogorov-Smirnov test of equal distributions (Smirnov 1939).

    Sensitive to any difference, spread and shape included; exact where that is feasible.
    None for an empty sample, and if neither sample varies.
    """
    if not one or not other or (_constant(one) and _constant(other)):
        return None
    exact = len(one) * len(other) <= MOST_EXACT_KOLMOGOROV_SMIRNOV
    with warnings.catch_warnings():
        # Where the exact p-value is 1, it may be rounded up; scipy warns and gives another near 1.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.ks_2samp(one, other, method="exact" if exact else "asymp")
    p = min(1.0, float(result.pvalue))
    return TestResult(
        name="Kolmogorov-Smirnov",
        statistic=float(result.statistic),
        p=p,
        alpha=KOLMOGOROV_SMIRNOV_ALPHA,
        smallest_p=_smallest_p(len(one), len(other)),
        method="exact" if exact else "asymptotic",
        adjusted=p,
    )


def _smallest_p(one: int, other: int) -> float:
    """The p-value of samples that do not overlap, of both rank tests."""
    return min(1.0, 2 / math.comb(one + other, one))


def _constant(values: Values) -> bool:
    return min(values) == max(values)
