"""Quantiles of a sample, with their exact confidence intervals by the order of its values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from headway.statistics.interval import LEVEL, Interval


def quantile(values: Sequence[float], share: float) -> tuple[float, Interval]:
    """A quantile: the least value that so large a share of the sample does not exceed.

    The interval has the k-th least values as its ends that the binomial distribution gives (David and Nagaraja, *Order
    Statistics*, section 7.1). An end that no value of so small a sample reaches is open.

    Args:
        values: the sample, at least one.
        share: above 0 and below 1.
    """
    ordered, n = sorted(values), len(values)
    value = ordered[min(n, max(1, math.ceil(Fraction(share).limit_denominator(1000) * n))) - 1]
    below = _cumulative(n, share)
    spare = (1 - LEVEL) / 2
    # Of `count` values below the quantile, the probability that there are at most that many.
    low = max((k for k in range(1, n + 1) if below[k - 1] <= spare), default=0)
    high = min((k for k in range(1, n + 1) if 1 - below[k - 1] <= spare), default=n + 1)
    ends = (ordered[low - 1] if low else -math.inf, ordered[high - 1] if high <= n else math.inf)
    under, over = below[low - 1] if low else 0.0, 1 - below[high - 1] if high <= n else 0.0
    return value, Interval(*ends, 1 - under - over, "order of the runs")


def fewest_below(share: float) -> int:
    """How many values it takes at the least before one of them is certain not to be below the quantile."""
    return math.ceil(math.log((1 - LEVEL) / 2) / math.log(share))


def _cumulative(n: int, share: float) -> list[float]:
    """Probabilities that at most 0, 1, ... n of n values are below the quantile."""
    values, total = [], 0.0
    for count in range(n + 1):
        total += math.comb(n, count) * share**count * (1 - share) ** (n - count)
        values.append(min(total, 1.0))
    return values
