"""Runs that nothing pairs: the typical ratio of two samples, and the interval that their rank test leaves.

As of pairs, everything rests on one statistic: Mann and Whitney's U counts in how many of all pairs of runs the
one value is the greater; the median of their ratios is the estimate (Hodges and Lehmann 1963), and the ratios
that the test would not reject are the interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.analysis.exact import mann_whitney_at_most
from headway.analysis.significance import MOST_EXACT, mann_whitney
from headway.statistics.distributions import normal_quantile
from headway.statistics.interval import LEVEL, Interval


def typical_shift(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """The median of the logarithms of the ratios of every two runs; None of an empty sample."""
    if not ones or not others:
        return None
    return float(statistics.median(_log_ratios(ones, others).tolist()))


def typical_shift_interval(
    ones: Sequence[float], others: Sequence[float], level: float = LEVEL
) -> Interval | None:
    """Its confidence interval (Moses); None unless both samples have two values.

    Its ends are the k-th smallest and the k-th largest logarithm. With too few runs for the level it is their
    range, with its own coverage.
    """
    n, m = len(ones), len(others)
    if min(n, m) < 2:
        return None
    k, coverage = _rank(n, m, level)
    ordered = _log_ratios(ones, others)
    interval = Interval(float(ordered[k - 1]), float(ordered[n * m - k]), coverage, "ranks", level)
    (test,) = mann_whitney([(ones, others)])
    if coverage < level:
        return interval
    return interval.settled(holds_zero=test is None or test.p > 1 - level)


def _log_ratios(ones: Sequence[float], others: Sequence[float]) -> NDArray[np.float64]:
    """In ascending order; of two that are infinite or 0 alike, none is the greater."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.subtract.outer(np.log(np.asarray(ones)), np.log(np.asarray(others))).ravel()
    value[np.isnan(value)] = 0
    return np.sort(np.round(value, 12))


def _rank(n: int, m: int, level: float) -> tuple[int, float]:
    """The largest k, at least 1, whose interval has the level, and its coverage."""
    if n * m > MOST_EXACT:
        sd = math.sqrt(n * m * (n + m + 1) / 12)
        reach = normal_quantile((1 - level) / 2) * sd
        return max(1, math.floor(n * m / 2 + reach - 0.5) + 1), level
    at_most = mann_whitney_at_most(n, m)
    k = max(1, int(np.searchsorted(at_most, (1 - level) / 2, side="right")))
    return k, 1 - 2 * float(at_most[k - 1])
