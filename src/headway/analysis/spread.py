"""The scatter of runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from statistics import NormalDist

from headway.statistics.interval import LEVEL, Interval

_FEWEST = 6
"""With fewer values, a variance of the logarithm that is estimated from them tells nothing."""


def scatter_ratio(
    values: Sequence[float], other: Sequence[float]
) -> tuple[float | None, Interval | None]:
    """The ratio of two samples' mean absolute deviations from their medians, and its interval.

    The interval is that of Bonett and Seier (Confidence Intervals for Mean Absolute Deviations, The
    American Statistician 57, 2003), which does not ask for normal values.

    Returns:
        None for both if a sample is of one value, or the other one does not scatter; no interval of
        fewer than six values.
    """
    if min(len(values), len(other)) < 2:
        return None, None
    ours, theirs = _deviation(values), _deviation(other)
    if theirs == 0:
        return None, None
    ratio = ours / theirs
    if ours == 0:
        return ratio, Interval(0.0, 0.0, 1.0, "every run")
    if min(len(values), len(other)) < _FEWEST:
        return ratio, None
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(_variance(values) + _variance(other))
    low, high = ratio * math.exp(-reach), ratio * math.exp(reach)
    return ratio, Interval(low, high, LEVEL, "Bonett-Seier")


def _deviation(values: Sequence[float]) -> float:
    """Mean absolute deviation from the median, with the correction for small samples."""
    middle = statistics.median(values)
    return math.fsum(abs(value - middle) for value in values) / (len(values) - 1)


def _variance(values: Sequence[float]) -> float:
    """The variance of the logarithm of the deviation."""
    n = len(values)
    deviation = _deviation(values) * (n - 1) / n
    skew = (statistics.fmean(values) - statistics.median(values)) / deviation
    return (statistics.variance(values) / deviation**2 + skew**2 - 1) / n
