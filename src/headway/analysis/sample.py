"""What a sample of one contender's runs says: median with interval, mean, spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

LEVEL = 0.95
"""Confidence that an interval of the median is meant to have."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a median.

    Attributes:
        low: lower end, an order statistic of the sample.
        high: upper end, an order statistic of the sample.
        coverage: exact probability that an interval so built holds the median of a continuous
            distribution; below ``LEVEL`` if the sample is too small for it.
    """

    low: float
    high: float
    coverage: float

    @property
    def reaches_level(self) -> bool:
        """Whether the sample was large enough for the interval to have the meant confidence."""
        return self.coverage >= LEVEL

    @property
    def method(self) -> str:
        """How it was built, in words."""
        if self.reaches_level:
            return f"order statistics, {self.coverage:.1%}".replace("%", " %")
        return f"range of the sample, {self.coverage:.1%}".replace("%", " %")


@dataclass(frozen=True)
class Sample:
    """A sample's summary.

    Attributes:
        n: number of values.
        median: median.
        interval: confidence interval of the median; None for a single value.
        mean: arithmetic mean.
        sd: standard deviation (n - 1 in the denominator); None for a single value.
        low: smallest value.
        high: largest value.
    """

    n: int
    median: float
    interval: Interval | None
    mean: float
    sd: float | None
    low: float
    high: float

    @property
    def constant(self) -> bool:
        """Whether all values are equal."""
        return self.low == self.high


def summarise(values: Sequence[float]) -> Sample | None:
    """Summarise a sample; None if there is nothing in it."""
    if not values:
        return None
    ordered = sorted(values)
    constant = ordered[0] == ordered[-1]
    return Sample(
        n=len(ordered),
        median=statistics.median(ordered),
        interval=median_interval(ordered),
        mean=ordered[0] if constant else statistics.fmean(ordered),
        sd=None if len(ordered) < 2 else 0.0 if constant else statistics.stdev(ordered),
        low=ordered[0],
        high=ordered[-1],
    )


def median_interval(values: Sequence[float]) -> Interval | None:
    """Exact confidence interval of the median by order statistics.

    The interval from the k-th smallest to the k-th largest value misses the median with
    probability 2 P(B < k), B binomial with n trials of 1/2 (Thompson 1936; Conover, Practical
    Nonparametric Statistics, 1999, section 3.2). The largest k with 95 % is taken. Below six
    values no interval reaches 95 %: then it is the sample's range, with its own coverage
    (93.75 % for five).
    """
    n = len(values)
    if n < 2:
        return None
    ordered = sorted(values)
    k = max(1, int(stats.binom.ppf((1 - LEVEL) / 2, n, 0.5)))
    # ppf may stop one short of or one past the last k that keeps the level.
    while k > 1 and _coverage(n, k) < LEVEL:
        k -= 1
    while _coverage(n, k + 1) >= LEVEL:
        k += 1
    return Interval(ordered[k - 1], ordered[n - k], _coverage(n, k))


def _coverage(n: int, k: int) -> float:
    return float(1 - 2 * stats.binom.cdf(k - 1, n, 0.5))
