"""Mean ranks, and p-values adjusted for their number: a few sums each, which need not wait until scipy is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mean_ranks(rows: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Ranks from 1 of the values of each row; values that are equal have the mean of their ranks.

    Args:
        rows: a row for each sample, or one sample.
    """
    if rows.ndim > 1:
        return np.array([mean_ranks(row) for row in rows]).reshape(rows.shape)
    _, places, counts = np.unique(rows, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    return np.asarray((last - (counts - 1) / 2)[places])


def false_discovery_adjusted(
    ps: Sequence[float] | NDArray[np.floating[Any]],
) -> NDArray[np.float64]:
    """P-values of a family adjusted for their number (Benjamini and Hochberg 1995), in the order given.

    The n-th smallest of m is multiplied by m / n, and is never above one that is adjusted from a greater p-value.
    """
    values = np.asarray(ps, dtype=float)
    order = values.argsort()
    scaled = values[order] * (len(values) / np.arange(1, len(values) + 1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 1.0)
