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
    order = rows.argsort(axis=-1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=-1)
    lower, upper = ordered[..., :-1], ordered[..., 1:]
    # What is no number stands at the end, and is tied with all of its kind.
    tied = (lower == upper) | (np.isnan(lower) & np.isnan(upper))
    places = np.arange(rows.shape[-1])
    first, last = np.zeros(rows.shape, dtype=int), np.full(rows.shape, places.size - 1)
    first[..., 1:] = np.where(tied, 0, places[1:])
    last[..., :-1] = np.where(tied, last[..., :-1], places[:-1])
    first = np.maximum.accumulate(first, axis=-1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


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
