"""The region where a quantity has to lie: what a claim comes down to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headway.statistics.interval import Interval
from headway.study.claim import USUAL_TOLERANCE, Failures

MOST_NEEDED = 1000
"""More repetitions than this are not named: nobody will carry them out, and the estimate is a guess."""


@dataclass(frozen=True)
class Region:
    """Where a quantity has to lie.

    Attributes:
        low: its lower edge.
        high: its upper edge.
        has_edges: whether a quantity may lie on an edge ("at most"), or has to lie beside it ("less than").
    """

    low: float = -math.inf
    high: float = math.inf
    has_edges: bool = False

    @classmethod
    def of(
        cls, value: float | None, low: float | None, high: float | None, *, has_edges: bool = True
    ) -> Region:
        """About a published value, or a range whose ends may be open."""
        if value is not None:
            off = USUAL_TOLERANCE * abs(value)
            return cls(value - off, value + off, has_edges=True)
        ends = -math.inf if low is None else low, math.inf if high is None else high
        return cls(*ends, has_edges=has_edges)

    def holds(self, interval: Interval) -> bool:
        """Whether all of an interval is inside; nothing lies beyond an open end."""
        if self.has_edges:
            return self.low <= interval.low and interval.high <= self.high
        above = self.low < interval.low or math.isinf(self.low)
        return above and (interval.high < self.high or math.isinf(self.high))

    def excludes(self, interval: Interval) -> bool:
        """Whether none of an interval is inside."""
        if self.has_edges:
            return interval.high < self.low or self.high < interval.low
        return interval.high <= self.low or self.high <= interval.low

    def distance(self, value: float) -> float:
        """From a value to the nearer edge."""
        return min(abs(value - self.low), abs(value - self.high))


def failure_region(rule: Failures) -> Region:
    """Where a share of failures has to lie; an edge at 0 or 100 % can be met."""
    return Region(rule.low if rule.low > 0 else -1, rule.high if rule.high < 100 else 101)
