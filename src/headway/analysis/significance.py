"""Tests and effect sizes for two samples, safe for constant and tiny ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

WELCH_ALPHA = 0.01
MANN_WHITNEY_ALPHA = 0.005

_MOST_EXACT = 2_500
"""The exact distribution is used up to this product of the sample sizes."""


@dataclass(frozen=True)
class TestResult:
    """A two-sided test of two samples.

    Attributes:
        name: the test.
        statistic: its statistic.
        p: two-sided p-value.
        alpha: level below which ``p`` counts as significant.
        smallest_p: the smallest p-value that samples of these sizes can give.
        method: how ``p`` was computed.
    """

    __test__ = False  # not a test case, whatever pytest makes of the name

    name: str
    statistic: float
    p: float
    alpha: float
    smallest_p: float
    method: str

    @property
    def significant(self) -> bool:
        """Whether the p-value is below the level."""
        return self.p < self.alpha

    @property
    def can_decide(self) -> bool:
        """Whether samples of these sizes could be significant at all."""
        return self.smallest_p < self.alpha


def welch(one: Sequence[float], other: Sequence[float]) -> TestResult | None:
    """Welch's t-test of equal means (Welch 1947); None if it is not defined.

    It is not defined for a sample of one, nor if neither sample varies.
    """
    if len(one) < 2 or len(other) < 2 or (_constant(one) and _constant(other)):
        return None
    result = stats.ttest_ind_from_stats(
        *_moments(one), len(one), *_moments(other), len(other), equal_var=False
    )
    statistic, p = float(result.statistic), float(result.pvalue)
    if math.isnan(p):
        return None  # the variances vanish in floating point: as good as constant
    return TestResult("Welch", statistic, p, WELCH_ALPHA, 0.0, "t distribution")


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> TestResult | None:
    """Mann-Whitney U test (Mann and Whitney 1947); None if it is not defined.

    Exact where that is feasible, ties included; else the normal approximation with corrections
    for ties and continuity. Not defined for an empty sample, nor if neither sample varies: then
    there is nothing to test.
    """
    if not one or not other or (_constant(one) and _constant(other)):
        return None
    smallest = min(1.0, 2 / math.comb(len(one) + len(other), len(one)))
    if len(one) * len(other) > _MOST_EXACT:
        result = stats.mannwhitneyu(one, other, method="asymptotic")
        u, p, method = float(result.statistic), float(result.pvalue), "normal approximation"
    else:
        u, p = _exact_mann_whitney(one, other)
        method = "exact"
    return TestResult("Mann-Whitney", u, p, MANN_WHITNEY_ALPHA, smallest, method)


def _exact_mann_whitney(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """U of the first sample and its exact two-sided p-value, twice the smaller tail.

    Counts the ways to draw a sample's worth of the (mid)ranks by their sum, one rank after the
    other: the shift algorithm of Streitberg and Roehmel (1986). Ranks are doubled to be whole.
    """
    size = len(one)
    ranks = np.rint(2 * stats.rankdata([*one, *other])).astype(int)
    counts = np.zeros((size + 1, int(ranks.sum()) + 1))
    counts[0, 0] = 1
    for rank in ranks:
        counts[1:, rank:] += counts[:-1, :-rank].copy()
    found = int(ranks[:size].sum())
    ways = counts[size]
    tail = min(ways[: found + 1].sum(), ways[found:].sum()) / ways.sum()
    return found / 2 - size * (size + 1) / 2, min(1.0, 2 * float(tail))


def cliffs_delta(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Cliff's delta: P(one > other) - P(one < other), from -1 to 1 (Cliff 1993).

    None if a sample is empty.
    """
    if not one or not other:
        return None
    signs = np.sign(np.subtract.outer(np.asarray(one), np.asarray(other)))
    return float(signs.sum() / signs.size)


def _constant(values: Sequence[float]) -> bool:
    return min(values) == max(values)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation, summed exactly: order does not matter, nor cancellation."""
    if _constant(values):
        return values[0], 0.0
    return statistics.fmean(values), statistics.stdev(values)
