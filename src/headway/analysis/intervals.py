"""Confidence intervals: of a median, of a mean, of the relative difference of two medians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.95
"""Confidence that an interval is meant to have."""
RESAMPLES = 999
"""Resamples of the bootstrap."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: lower end.
        high: upper end.
        coverage: probability that an interval so built holds the true value; below ``LEVEL`` if
            the sample is too small for it.
        how: how it was built.
    """

    low: float
    high: float
    coverage: float
    how: str

    @property
    def reaches_level(self) -> bool:
        """Whether the sample was large enough for the interval to have the meant confidence."""
        return self.coverage >= LEVEL

    @property
    def method(self) -> str:
        """How it was built and its coverage, in words."""
        return f"{self.how}, {self.coverage:.1%}".replace("%", " %")

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval."""
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> Interval:
        """The same interval in another unit."""
        return replace(self, low=self.low * factor, high=self.high * factor)


def median_interval(ordered: Sequence[float]) -> Interval | None:
    """Exact confidence interval of the median by order statistics; None for a single value.

    The interval from the k-th smallest to the k-th largest value misses the median with
    probability 2 P(B < k), B binomial with n trials of 1/2 (Thompson 1936; Conover, Practical
    Nonparametric Statistics, 1999, section 3.2). The largest k with 95 % is taken. Below six
    values no interval reaches 95 %: then it is the sample's range, with its own coverage
    (93.75 % for five).

    Args:
        ordered: the values in ascending order.
    """
    n = len(ordered)
    if n < 2:
        return None
    k, coverage = _rank(n)
    how = "order statistics" if coverage >= LEVEL else "range of the sample"
    return Interval(ordered[k - 1], ordered[n - k], coverage, how)


def mean_interval(n: int, mean: float, sd: float | None) -> Interval | None:
    """Confidence interval of the mean by Student's t (Student 1908); None for a single value."""
    if sd is None:
        return None
    reach = _student(n) * sd / math.sqrt(n)
    return Interval(mean - reach, mean + reach, LEVEL, "t distribution")


def resampled_medians(values: Sequence[float], stream: int) -> NDArray[np.float64]:
    """Medians of ``RESAMPLES`` samples of the same size, drawn with replacement.

    The draws depend on the number of values and on the stream only: two samples whose values
    pair by their places are resampled by pairs on the same stream, and independently on two.
    """
    n = len(values)
    # Sorting rows is three times as fast as numpy's median, which is most of an analysis' time.
    ordered = np.sort(np.asarray(values)[_draws(n, stream)], axis=1)
    return np.asarray((ordered[:, (n - 1) // 2] + ordered[:, n // 2]) / 2)


def percentile_interval(resampled: NDArray[np.float64], smallest: int) -> Interval:
    """Percentile interval of the bootstrap (Efron and Tibshirani 1993, section 13.3).

    Args:
        resampled: the statistic in every resample.
        smallest: size of the smaller sample. No median of a resample leaves the range of its
            sample, so that the coverage is no better than that range's.
    """
    low, high = np.quantile(resampled, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(low), float(high), min(LEVEL, _coverage(smallest, 1)), "bootstrap")


@lru_cache(maxsize=1024)
def _rank(n: int) -> tuple[int, float]:
    """The largest rank k whose interval reaches the level, at least 1, and its coverage."""
    k = max(1, int(stats.binom.ppf((1 - LEVEL) / 2, n, 0.5)))
    # ppf may stop one short of or one past the last k that keeps the level.
    while k > 1 and _coverage(n, k) < LEVEL:
        k -= 1
    while _coverage(n, k + 1) >= LEVEL:
        k += 1
    return k, _coverage(n, k)


def _coverage(n: int, k: int) -> float:
    return float(1 - 2 * stats.binom.cdf(k - 1, n, 0.5))


@lru_cache(maxsize=1024)
def _student(n: int) -> float:
    return float(stats.t.ppf((1 + LEVEL) / 2, n - 1))


@lru_cache(maxsize=16)
def _draws(n: int, stream: int) -> NDArray[np.int64]:
    return np.random.default_rng((n, stream)).integers(0, n, (RESAMPLES, n))
