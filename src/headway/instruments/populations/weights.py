"""Sites that stand for others: shares and medians of which each observation has a weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.statistics.interval import LEVEL, Interval, share_ends, share_interval

Vector = NDArray[np.float64]


def weighted_share_interval(inside: NDArray[np.bool_], weights: Vector) -> Interval:
    """Interval of a weighted share (Korn and Graubard 1998).

    It is Clopper and Pearson's, of as many observations as the weights leave (Kish 1965): of equal weights, of all.

    Args:
        inside: whether each observation is one of those counted.
        weights: what each counts.
    """
    if (weights == weights[0]).all():
        return share_interval(int(inside.sum()), len(inside))
    n = float(weights.sum() ** 2 / (weights**2).sum())
    count = n * float(weights[inside].sum() / weights.sum())
    return Interval(*share_ends(count, n), LEVEL, "Korn-Graubard")


def weighted_median(rows: Vector) -> float:
    """The value up to which half of the weight lies; rows are values with their weights."""
    values, weights = rows[np.argsort(rows[:, 0], kind="stable")].T
    if (weights == weights[0]).all():
        return float(np.median(values))
    reached = np.cumsum(weights) / weights.sum()
    return float(values[np.searchsorted(reached, 0.5)])
