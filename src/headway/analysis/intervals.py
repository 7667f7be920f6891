"""Confidence intervals: of a median, of a mean, of the relative difference of two medians."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.statistics.distributions import halves_at_most, student_quantile
from headway.statistics.interval import LEVEL, Interval

_NORMAL = NormalDist()
RESAMPLES = 999
"""Resamples of the bootstrap."""
_AT_ONCE = 1_000_000
"""Values that are drawn at once."""
_MOST_KEPT = _AT_ONCE // RESAMPLES
"""The largest sample whose draws are kept for the next one of the same size."""


def median_interval(ordered: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Exact confidence interval of the median by order statistics; None for a single value.

    The interval from the k-th smallest to the k-th largest value misses the median with
    probability 2 P(B < k), B binomial with n trials of 1/2 (Thompson 1936; Conover, Practical
    Nonparametric Statistics, 1999, section 3.2). The largest k with the level is taken. Below six
    values no interval reaches 95 %: then it is the sample's range, with its own coverage
    (93.75 % for five).

    Args:
        ordered: the values in ascending order.
        level: confidence that it is to have.
    """
    n = len(ordered)
    if n < 2:
        return None
    k, coverage = _rank(n, level)
    how = "order statistics" if coverage >= level else "range of the sample"
    return Interval(ordered[k - 1], ordered[n - k], coverage, how, level)


def mean_interval(n: int, mean: float, sd: float | None, level: float = LEVEL) -> Interval | None:
    """Confidence interval of the mean by Student's t (Student 1908); None for a single value."""
    if sd is None:
        return None
    reach = _student(n, level) * sd / math.sqrt(n)
    return Interval(mean - reach, mean + reach, level, "t distribution", level)


def level_at_looks(level: float, looks: int) -> float:
    """The level of an interval that holds although results are looked at so often, and it may end at any look.

    Its error is divided evenly among the looks (Bonferroni): the chance that the interval of any look misses is no
    more than their sum, whatever decides which one is the last.
    """
    return level if looks == 1 else 1 - (1 - level) / looks


def quantile(ordered: Sequence[float], share: float) -> float:
    """A quantile, interpolated linearly (type 7 of Hyndman and Fan 1996).

    Args:
        ordered: the values in ascending order.
        share: of the values that are at most as large, from 0 to 1.
    """
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return low + (place - below) * (high - low)


@lru_cache(maxsize=64)
def resampled_medians(values: tuple[float, ...], stream: int) -> NDArray[np.float64]:
    """Medians of ``RESAMPLES`` samples of the same size, drawn with replacement.

    The draws depend on the number of values and on the stream only: two samples whose values
    pair by their places are resampled by pairs on the same stream, and independently on two.
    The latest are kept, as the contenders of a cell are compared with one and the same.
    """
    n, drawn_from = len(values), np.asarray(values)
    blocks = _kept_draws(n, stream) if n <= _MOST_KEPT else _draws(n, stream)
    return np.concatenate([_row_medians(drawn_from[draws]) for draws in blocks])


def resampled_means(rows: NDArray[np.floating[Any]], stream: int) -> NDArray[np.floating[Any]]:
    """Means over the rows of ``RESAMPLES`` samples of them, drawn with replacement.

    The draws are those of `resampled_medians`.

    Args:
        rows: a row for each run, a column for each quantity.
        stream: of the draws.

    Returns:
        A row for each resample.
    """
    n = len(rows)
    blocks = _kept_draws(n, stream) if n <= _MOST_KEPT else _draws(n, stream)
    return np.concatenate([_times_drawn(draws) @ rows / n for draws in blocks])


def percentile_interval(resampled: NDArray[np.float64], smallest: int) -> Interval:
    """Percentile interval of the bootstrap (Efron and Tibshirani 1993, section 13.3).

    Args:
        resampled: the statistic in every resample.
        smallest: size of the smaller sample. No median of a resample leaves the range of its
            sample, so that the coverage is no better than that range's.
    """
    ordered = np.sort(resampled).tolist()
    low, high = (quantile(ordered, share) for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(low, high, min(LEVEL, _coverage(smallest, 1)), "bootstrap")


@lru_cache(maxsize=1024)
def _rank(n: int, level: float) -> tuple[int, float]:
    """The largest rank k whose interval reaches the level, at least 1, and its coverage."""
    # By the normal distribution, which is some ranks short of or past the last k that keeps the level.
    k = max(1, round(n / 2 + _NORMAL.inv_cdf((1 - level) / 2) * math.sqrt(n) / 2))
    while k > 1 and _coverage(n, k) < level:
        k -= 1
    while _coverage(n, k + 1) >= level:
        k += 1
    return k, _coverage(n, k)


@lru_cache(maxsize=1024)
def _coverage(n: int, k: int) -> float:
    return 1 - 2 * halves_at_most(k - 1, n)


@lru_cache(maxsize=1024)
def _student(n: int, level: float) -> float:
    return student_quantile((1 + level) / 2, n - 1)


def _row_medians(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of each row; sorting is several times as fast as numpy's function."""
    rows.sort(axis=1)
    n = rows.shape[1]
    return np.asarray((rows[:, (n - 1) // 2] + rows[:, n // 2]) / 2)


def _times_drawn(draws: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each place was drawn, a row for each resample."""
    count, n = draws.shape
    places = draws + n * np.arange(count)[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=count * n).reshape(count, n)


def _draws(n: int, stream: int) -> Iterator[NDArray[np.int64]]:
    """Places to draw, a row for each resample, in blocks that fit into memory."""
    rng = np.random.default_rng((n, stream))
    most = max(1, _AT_ONCE // n)
    for done in range(0, RESAMPLES, most):
        yield rng.integers(0, n, (min(most, RESAMPLES - done), n))


@lru_cache(maxsize=8)
def _kept_draws(n: int, stream: int) -> tuple[NDArray[np.int64], ...]:
    return tuple(_draws(n, stream))
