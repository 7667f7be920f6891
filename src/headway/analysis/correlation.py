"""Rank correlation with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.analysis.intervals import percentile_interval
from headway.statistics.interval import Interval
from headway.statistics.ranks import mean_ranks
from headway.study.claim import FEWEST_POINTS

_RESAMPLES = 2000


def rank_correlation(
    points: Sequence[tuple[float, float]],
) -> tuple[float | None, Interval | None]:
    """Spearman's rank correlation, and its interval by bootstrap over the points.

    Returns:
        None for both if nothing varies; None for the interval if there are too few points.
    """
    if len(points) < 2:
        return None, None
    table = np.array(points, dtype=float)
    value = _spearman(table)
    if value is None:
        return None, None
    if len(points) < FEWEST_POINTS:
        return value, None
    generator = np.random.default_rng(0)
    drawn = [
        _spearman(table[generator.integers(len(table), size=len(table))]) for _ in range(_RESAMPLES)
    ]
    known = np.array([coefficient for coefficient in drawn if coefficient is not None])
    return value, percentile_interval(known, len(points)) if len(known) else None


def _spearman(table: NDArray[np.float64]) -> float | None:
    ranks = mean_ranks(table.T).T
    spread = ranks.std(axis=0)
    if not spread.all():
        return None
    centred = ranks - ranks.mean(axis=0)
    return float((centred[:, 0] * centred[:, 1]).mean() / spread.prod())
