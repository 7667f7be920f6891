"""Pairs of runs that met the same path: the ratio of each, their typical ratio, and an exact test.

Everything rests on one statistic, Wilcoxon's signed ranks of the logarithms of the pairs' ratios: the
test, the estimate (Hodges and Lehmann's) and the interval (Tukey's) are three readings of it, so that
the interval leaves out "no difference" exactly where the test rejects it at the same level.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from headway.statistics.distributions import normal_quantile, normal_tail
from headway.statistics.interval import LEVEL, Interval
from headway.statistics.pairs import smallest_p
from headway.statistics.ranks import mean_ranks

MOST_EXACT_PAIRS = 100
"""The exact distribution is used up to this number of pairs."""
_MOST_AVERAGES = 200
"""Up to this number of pairs all averages of two are made; beyond, they are only counted."""
_HALVINGS = 60
"""Steps to a value among counted averages: as many as a float has bits that matter."""


def log_ratio(value: float, other: float) -> float:
    """Logarithm of the ratio of two values; of 0 and of infinity, which a run never ends with, too.

    Rounded beyond what was measured, so that equal ratios are ties.
    """
    if value == other:
        return 0.0
    if value <= 0 or math.isinf(other):
        return -math.inf
    if other <= 0 or math.isinf(value):
        return math.inf
    return round(math.log(value) - math.log(other), 12)


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed rank test (Wilcoxon 1945) of pairs.

    Attributes:
        statistic: sum of the ranks of the pairs in which the first value was the greater.
        p: two-sided p-value: how often chance alone, which would swap the values of every pair with
            probability 1/2, gives ranks as one-sided as these.
        smallest_p: that of pairs which all point the same way.
        exact: whether the exact distribution was used.
    """

    statistic: float
    p: float
    smallest_p: float
    exact: bool


def signed_ranks(logs: Sequence[float]) -> SignedRanks | None:
    """Test whether pairs favour one side; None without pairs or if all are equal.

    Pairs without a difference take part in the ranking and count for neither side (Pratt 1959).
    """
    if not any(logs):
        return None
    values = np.asarray(logs)
    doubled = np.rint(2 * mean_ranks(np.abs(values))).astype(int)
    moved = values != 0
    ranks = np.sort(doubled[moved])
    statistic = int(doubled[values > 0].sum())
    exact = len(values) <= MOST_EXACT_PAIRS
    p = _exact_p(tuple(ranks.tolist()), statistic) if exact else _normal_p(ranks, statistic)
    return SignedRanks(statistic / 2, p, smallest_p(len(values)), exact)


def typical(logs: Sequence[float]) -> float:
    """Hodges and Lehmann's estimate (1963): the median of the averages of every two values.

    Every value also forms an average with itself. Less at the mercy of a single pair than the
    mean, and a better use of few pairs than their median.
    """
    count = len(logs) * (len(logs) + 1) // 2
    find = _ordered_averages(logs)
    return _middle(find((count + 1) // 2), find(count // 2 + 1))


def typical_interval(logs: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Confidence interval of `typical`: all shifts that the test does not reject; None for one pair.

    Its ends are the k-th smallest and the k-th largest average of two values; where values are tied, the
    averages between which the test, with its ties, stops rejecting. With too few pairs for the level it is
    their range, with its own coverage: 93.75 % for five.
    """
    n = len(logs)
    if n < 2:
        return None
    k, coverage = _rank(n, level)
    if coverage < level or n > _MOST_AVERAGES or not _tied(logs):
        find = _ordered_averages(logs)
        low, high = find(k), find(n * (n + 1) // 2 + 1 - k)
    else:
        low, high = _not_rejected(np.asarray(logs, dtype=float), 1 - level)
    interval = Interval(low, high, coverage, "signed ranks", level)
    if coverage < level:
        return interval
    test = signed_ranks(logs)
    return interval.settled(holds_zero=test is None or test.p > 1 - level)


def _tied(logs: Sequence[float]) -> bool:
    """Whether signed ranks of these values, or of these moved by any finite amount, have ties."""
    if not any(map(math.isfinite, logs)):
        return False
    return len(set(logs)) < len(logs) or len(set(map(abs, logs))) < len(logs) or 0 in logs


def _not_rejected(values: NDArray[np.float64], error: float) -> tuple[float, float]:
    """The shifts that the test does not reject, by halving: ever fewer the farther from the middle."""
    averages = _averages(np.sort(values))
    places = np.unique(np.round(averages[np.isfinite(averages)], 12))
    between = [places[0] - 1, *(places[1:] + places[:-1]) / 2, places[-1] + 1]

    def kept(place: int) -> bool:
        with np.errstate(invalid="ignore"):
            test = signed_ranks(np.round(values - between[place], 12).tolist())
        return test is None or test.p > error

    middle = int(places.searchsorted(round(typical(values.tolist()), 12)))
    first = bisect.bisect_left(range(middle), True, key=kept)
    beyond = range(middle + 1, len(between))
    last = middle + 1 + bisect.bisect_left(beyond, True, key=lambda place: not kept(place))
    ends = [-math.inf, *places.tolist(), math.inf]
    return ends[first if kept(first) else first + 1], ends[min(last, len(places) + 1)]


def _ordered_averages(logs: Sequence[float]) -> Callable[[int], float]:
    """What gives the k-th smallest average of two values, k from 1."""
    ordered = np.sort(np.asarray(logs, dtype=float))
    if len(ordered) <= _MOST_AVERAGES:
        averages = _averages(ordered)
        return lambda k: float(averages[k - 1])
    # An infinite value would spoil the halving; nothing is lost if it is only very large.
    bounded = np.clip(ordered, -1e3, 1e3)
    return lambda k: _counted_to(bounded, k)


def _averages(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    first, second = np.triu_indices(len(ordered))
    with np.errstate(invalid="ignore"):
        averages = (ordered[first] + ordered[second]) / 2
    averages[np.isnan(averages)] = 0  # worse than any on either side: neither
    averages.sort()
    return averages


def _counted_to(ordered: NDArray[np.float64], k: int) -> float:
    """The k-th smallest average, by halving: how many are at most x takes no list of them."""
    low, high = float(ordered[0]), float(ordered[-1])
    places = np.arange(len(ordered))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # Each value's partners from itself on whose average with it is at most the middle.
        partners = ordered.searchsorted(2 * middle - ordered, side="right") - places
        if int(np.maximum(partners, 0).sum()) >= k:
            high = middle
        else:
            low = middle
    return round(high, 12) if abs(high) < 500 else math.copysign(math.inf, high)


def _middle(value: float, other: float) -> float:
    middle = (value + other) / 2
    return 0.0 if math.isnan(middle) else middle


@lru_cache(maxsize=4096)
def _exact_p(ranks: tuple[int, ...], statistic: int) -> float:
    at_most = _at_most(ranks)
    total = len(at_most) - 1
    return min(1.0, 2 * float(at_most[min(statistic, total - statistic)]))


@lru_cache(maxsize=256)
def _at_most(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Probability that ranks whose signs are drawn sum to at most s: each counts or does not."""
    ways = np.zeros(sum(ranks) + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] / 2 + ways[:-rank] / 2
        ways[:rank] /= 2
    return ways.cumsum()


def _normal_p(ranks: NDArray[np.int_], statistic: int) -> float:
    """With a correction for continuity; ties are in the variance."""
    half, sd = float(ranks.sum()) / 2, math.sqrt(float((ranks.astype(float) ** 2).sum())) / 2
    return min(1.0, 2 * normal_tail(max(0.0, abs(statistic - half) - 1) / sd))


@lru_cache(maxsize=1024)
def _rank(n: int, level: float) -> tuple[int, float]:
    """The largest k, at least 1, whose interval has the level, and its coverage."""
    if n > MOST_EXACT_PAIRS:
        sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        reach = normal_quantile((1 - level) / 2) * sd
        return max(1, math.floor(n * (n + 1) / 4 + reach - 0.5) + 1), level
    # Ranks are doubled: an undoubled sum of k - 1 is twice that here.
    at_most = _at_most(tuple(range(2, 2 * n + 1, 2)))[::2]
    k = max(1, int(np.searchsorted(at_most, (1 - level) / 2, side="right")))
    return k, 1 - 2 * float(at_most[k - 1])
