"""Exact distributions of rank statistics under the hypothesis that two samples are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from headway.statistics.ranks import mean_ranks


def tied_mann_whitney(
    ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]
) -> list[float]:
    """Two-sided p-values of Mann-Whitney U tests where values are tied: twice the smaller tail.

    Every pattern of ties has a distribution of its own.

    Args:
        ones: samples of one size.
        others: for each of them the other sample, all of one size.
    """
    n = len(ones[0])
    # Doubled to be whole where values are tied; moved to keep sums small.
    ranks = np.rint(2 * mean_ranks(np.concatenate([ones, others], axis=1))).astype(int)
    ranks -= ranks.min(axis=1, keepdims=True)
    value = ranks[:, :n].sum(axis=1)
    ranks.sort(axis=1)
    tails = (_tails(tuple(pattern), n) for pattern in ranks.tolist())
    return [
        min(1.0, 2 * float(min(at_most[place], at_least[place])))
        for (at_most, at_least), place in zip(tails, value, strict=True)
    ]


@lru_cache(maxsize=64)
def mann_whitney_at_most(n: int, m: int) -> NDArray[np.float64]:
    """Probability that Mann and Whitney's U of n and m values without ties is at most u, from 0."""
    at_most, _ = _tails(tuple(range(n + m)), n)
    first = n * (n - 1) // 2
    return at_most[first : first + n * m + 1]


@lru_cache(maxsize=64)
def _tails(ranks: tuple[int, ...], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities that ``size`` ranks drawn at random sum to at most, and at least, s.

    Counts the ways to draw them by their sum, one rank after the other: the shift algorithm of
    Streitberg and Roehmel (1986).

    Args:
        ranks: all ranks, whole numbers in ascending order.
        size: how many are drawn.
    """
    counts = np.zeros((size + 1, sum(ranks) + 1))
    counts[0, 0] = 1
    highest = 0
    for seen, rank in enumerate(ranks):
        # Rows are numbers drawn so far: of more nothing is known, from fewer no way leads to all.
        fewest, most = max(0, size - (len(ranks) - seen)), min(seen + 1, size)
        before = counts[fewest:most, : highest + 1].copy()
        highest += rank
        counts[fewest + 1 : most + 1, rank : highest + 1] += before
    ways = counts[size]
    at_most, at_least = ways.cumsum(), ways[::-1].cumsum()[::-1]
    return at_most / at_most[-1], at_least / at_least[0]


@lru_cache(maxsize=4096)
def kolmogorov_smirnov_p(n: int, m: int, distance: int) -> float:
    """Probability that the Kolmogorov-Smirnov statistic of n and m values is at least this.

    The values in ascending order are a path of steps from (0, 0) to (n, m), and all paths are
    equally likely; counted are those that stay closer to the diagonal (Hodges 1957).

    Args:
        n: size of one sample.
        m: size of the other.
        distance: the statistic times n times m, a whole number.
    """
    ways = [1] + [0] * m
    for i in range(n + 1):
        for j in range(m + 1):
            if abs(i * m - j * n) >= distance:
                ways[j] = 0
            elif j:
                ways[j] += ways[j - 1]
    every = math.comb(n + m, n)
    return (every - ways[m]) / every
