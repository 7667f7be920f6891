"""The oracle: what choosing the best strategy for each site would bring, without the flattery of chance.

Whoever takes the best of several medians at each site, and tells those medians, tells the luckiest of them: with
strategies that do not differ at all, an oracle seems to gain. Here it chooses by one half of the repetitions and is
judged by the other half, of which it knows nothing, over many ways to halve them. So it is a little worse than one that
knew all repetitions would be, and never better than it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from headway.analysis.intervals import mean_interval, percentile_interval, resampled_means
from headway.statistics.interval import Interval

FEWEST_REPETITIONS = 4
"""A half of two is the least that has a choice which one run does not make."""
_HALVINGS = 64
"""Ways to halve the repetitions, each of whose halves chooses once and judges once."""

Logs = NDArray[np.float64]
"""Logarithms of what was measured, less is better."""


@dataclass(frozen=True)
class CrossFitted:
    """Strategies and an oracle at one site, by the halves that judge.

    Attributes:
        strategies: mean over the halves of the logarithm of each strategy's median.
        oracle: the same of the strategy that the other half chose.
        chosen: how often each strategy was chosen, as a share.
    """

    strategies: Logs
    oracle: float
    chosen: Logs


def cross_fitted(site: Logs) -> CrossFitted:
    """Choose by one half of the repetitions, judge by the other.

    Args:
        site: a row for each strategy, a column for each repetition.
    """
    orders = _orders(site.shape[1])
    half = site.shape[1] // 2
    halves = [np.median(site[:, order], axis=2) for order in (orders[:, :half], orders[:, half:])]
    strategies, oracle, chosen = np.zeros(len(site)), 0.0, np.zeros(len(site))
    for choosing, judging in (halves, halves[::-1]):
        best = choosing.argmin(axis=0)
        strategies += judging.mean(axis=1) / 2
        oracle += float(judging[best, np.arange(_HALVINGS)].mean()) / 2
        chosen += np.bincount(best, minlength=len(site)) / (2 * _HALVINGS)
    return CrossFitted(strategies, oracle, chosen)


@lru_cache(maxsize=32)
def _orders(repetitions: int) -> NDArray[np.int64]:
    """Orders of so many repetitions, whose first halves are drawn."""
    rng = np.random.default_rng(repetitions)
    return np.array([rng.permutation(repetitions) for _ in range(_HALVINGS)])


def flattered(site: Logs) -> float:
    """The logarithm of the least median: what an oracle tells that chooses and judges by the same repetitions."""
    return float(np.median(site, axis=1).min())


@dataclass(frozen=True)
class Gain:
    """What a way of choosing takes off the baseline's value, over sites.

    Attributes:
        relative: geometric mean over sites, less 1: -0.1 is 10 % less.
        interval: its confidence interval over sites; None for a single one.
        closed: share of the oracle's gain; None if that could be chance.
        closed_interval: its confidence interval, likewise.
    """

    relative: float
    interval: Interval | None
    closed: float | None
    closed_interval: Interval | None


def gains(logs: Logs, oracle: int) -> tuple[Gain, ...]:
    """Gains of several ways of choosing.

    Args:
        logs: a row for each site, a column for each way: the logarithm of its value over the baseline's.
        oracle: which column is the oracle's.
    """
    sites, ways = logs.shape
    means = logs.mean(axis=0)
    intervals = [_interval(column) for column in logs.T]
    whole = intervals[oracle]
    if whole is None or whole.high >= 0:
        return tuple(
            Gain(float(np.expm1(mean)), interval, None, None)
            for mean, interval in zip(means, intervals, strict=True)
        )
    resampled = resampled_means(logs, stream=0)
    # A resample in which the oracle gains nothing has no share of it.
    kept = resampled[resampled[:, oracle] < 0]
    shares = kept / kept[:, [oracle]]
    return tuple(
        Gain(
            float(np.expm1(means[way])),
            intervals[way],
            float(means[way] / means[oracle]),
            percentile_interval(shares[:, way], sites),
        )
        for way in range(ways)
    )


def _interval(values: Sequence[float] | Logs) -> Interval | None:
    """Of the geometric mean over sites, less 1."""
    result = np.asarray(values, dtype=float)
    if len(result) < 2:
        return None
    spread = float(result.std(ddof=1))
    interval = mean_interval(len(result), float(result.mean()), spread)
    assert interval
    return Interval(
        float(np.expm1(interval.low)),
        float(np.expm1(interval.high)),
        interval.coverage,
        interval.how,
    )


def elsewhere_best(medians: Logs, alike: Sequence[NDArray[np.bool_]]) -> list[int]:
    """For each site, which strategy is the best at the other sites of its class.

    What is recommended to a class is judged at a site that had no part in it.

    Args:
        medians: a row for each site, a column for each strategy, as logarithms.
        alike: for each site, which sites are of its class.
    """
    numbers = []
    for place, mask in enumerate(alike):
        others = mask.copy()
        others[place] = False
        numbers.append(int(medians[others].mean(axis=0).argmin()) if others.any() else 0)
    return numbers
