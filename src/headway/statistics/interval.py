"""A confidence interval, and the exact one of a share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from headway.statistics.distributions import beta_quantile

LEVEL = 0.95
"""Confidence that an interval is meant to have."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: lower end.
        high: upper end.
        coverage: probability that an interval so built holds the true value; below ``level`` if
            the sample is too small for it.
        how: how it was built.
        level: confidence that it was meant to have: ``LEVEL``, or what one of many needs for all of them
            together to have that.
    """

    low: float
    high: float
    coverage: float
    how: str
    level: float = LEVEL

    @property
    def reaches_level(self) -> bool:
        """Whether the sample was large enough; else it is no more than a range."""
        return self.coverage >= self.level

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

    def settled(self, *, holds_zero: bool) -> Interval:
        """The interval as the test of "no difference" has it, which may be an end that is not of it.

        With ties, an end may be 0 where the test rejects 0 and nothing beside it. Then the interval begins
        beside 0; where the test does not reject 0, it reaches to 0.
        """
        if self.holds(0) == holds_zero:
            return self
        if holds_zero:
            return replace(self, low=min(self.low, 0.0), high=max(self.high, 0.0))
        if self.high > -self.low:
            return replace(self, low=math.nextafter(0, 1))
        return replace(self, high=math.nextafter(0, -1))


def share_interval(count: int, n: int) -> Interval:
    """Exact confidence interval of a share (Clopper and Pearson 1934).

    Args:
        count: how many of them.
        n: of how many, at least 1.
    """
    return Interval(*share_ends(count, n), LEVEL, "Clopper-Pearson")


@lru_cache(maxsize=1024)
def share_ends(count: float, n: float) -> tuple[float, float]:
    """The ends of `share_interval`, as quantiles of beta distributions: these exist for parts of observations, too."""
    tail = (1 - LEVEL) / 2
    # Of none and of all of them, the quantiles are roots.
    if count <= 0:
        return 0.0, 1 - tail ** (1 / n)
    if count >= n:
        return tail ** (1 / n), 1.0
    return beta_quantile(tail, count, n - count + 1), beta_quantile(1 - tail, count + 1, n - count)
