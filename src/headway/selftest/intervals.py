"""Intervals that a healthy lab's random measurements fall into.

All intervals of one path hold together with probability `CONFIDENCE`: each single one is wider by
Bonferroni's inequality, so that a study's seed fails the self-test by chance once in a thousand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from headway.statistics.distributions import binomial_interval

CONFIDENCE = 0.999
_TESTS_PER_PATH = 20
_SINGLE = 1 - (1 - CONFIDENCE) / _TESTS_PER_PATH
SIGMAS = NormalDist().inv_cdf(0.5 + _SINGLE / 2)
"""Half width of an interval of a normal variable, in standard deviations."""


def share_interval(share: float, trials: float) -> tuple[float, float]:
    """Where the observed share of successes lies: quantiles of the binomial distribution.

    Args:
        share: probability of a success.
        trials: how many independent trials; see `effective_trials` for dependent ones.
    """
    whole = max(int(trials), 1)
    low, high = binomial_interval(_SINGLE, whole, share)
    return low / whole, high / whole


def effective_trials(trials: int, correlation: float) -> float:
    """How many independent trials tell as much about a mean as these of a Markov chain.

    The variance of the mean of a stationary two-state chain with lag-one correlation r is that of
    independent trials times (1 + r) / (1 - r).

    Args:
        trials: length of the chain.
        correlation: r, at least 0 and less than 1.
    """
    return trials * (1 - correlation) / (1 + correlation)


def joint_effective_trials(
    trials: int, shares: Sequence[float], correlations: Sequence[float]
) -> float:
    """As `effective_trials`, for the event that two independent chains are both in their state.

    Args:
        trials: length of the chains.
        shares: each chain's stationary probability of the state.
        correlations: each chain's lag-one correlation.
    """
    lags = np.arange(1, 1000)
    agree = np.ones(len(lags))
    for share, correlation in zip(shares, correlations, strict=True):
        agree = agree * (share**2 + share * (1 - share) * correlation**lags)
    both = math.prod(shares)
    if not 0 < both < 1:
        return trials
    return float(trials / (1 + 2 * np.sum(agree - both**2) / (both - both**2)))


def burst_mean_interval(mean: float, members: int) -> tuple[float, float]:
    """Where the observed mean length of geometric bursts lies.

    Each member of a burst ends it with probability 1 / mean, so the number of bursts among the
    members is binomial.

    Args:
        mean: mean length, at least 1.
        members: how many events all bursts have together.
    """
    low, high = share_interval(1 / mean, members)
    return 1 / high, 1 / low if low else float(members)


def mean_burst(events: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float | None:
    """Mean length of the runs of true values; None without any."""
    starts = np.count_nonzero(events[1:] & ~events[:-1]) + int(events[:1].sum())
    return float(events.sum()) / starts if starts else None


def mean_interval(mean: float, deviation: float, samples: int) -> tuple[float, float]:
    """Where the mean of independent samples lies, by the central limit theorem."""
    half = SIGMAS * deviation / math.sqrt(max(samples, 1))
    return mean - half, mean + half


def deviation_interval(deviation: float, samples: int) -> tuple[float, float]:
    """Where the standard deviation of samples lies that are no more heavy-tailed than normal."""
    half = SIGMAS / math.sqrt(2 * max(samples, 1))
    return deviation * max(0.0, 1 - half), deviation * (1 + half)
