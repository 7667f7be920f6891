"""At how many more cells one contender is better than another than it is worse, with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.analysis.intervals import RESAMPLES, percentile_interval, resampled_medians
from headway.analysis.sample import Measurements
from headway.statistics.interval import Interval


def count_difference(
    cells: Sequence[tuple[Measurements, Measurements]], beyond: float, *, less_is_better: bool
) -> tuple[float | None, Interval | None]:
    """Cells at which the first median is better by more than that share of the other, less those at which it is worse.

    Its interval is of the bootstrap over repetitions: of these cells, and not of others. Measurements with
    the same seeds are resampled by pairs, and cells with as many repetitions alike, as they share their seeds.

    Args:
        cells: what two contenders measured in each; cells without one of them do not count.
        beyond: as a share.
        less_is_better: of the metric.

    Returns:
        In percent of the cells; None for both if there are none, no interval of a single repetition.
    """
    known = [pair for pair in cells if pair[0].values and pair[1].values]
    if not known:
        return None, None
    towards = 100 * (-1 if less_is_better else 1) / len(known)
    ones, others = (np.array([np.median(pair[n].values) for pair in known]) for n in (0, 1))
    value = float(towards * _side(ones, others, beyond).sum())
    smallest = min(len(side.values) for pair in known for side in pair)
    if smallest < 2:
        return value, None
    resampled = np.zeros(RESAMPLES)
    for first, other in known:
        stream = 0 if first.seeds == other.seeds else 1
        ours = resampled_medians(first.values, stream=0)
        resampled += _side(ours, resampled_medians(other.values, stream=stream), beyond)
    return value, percentile_interval(towards * resampled, smallest)


def _side(
    nd_array: NDArray[np.float64], other: NDArray[np.float64], beyond: float
) -> NDArray[np.float64]:
    """1 where the first is larger by more than that share of the other, -1 where it is smaller by more."""
    return np.asarray(np.sign(nd_array - other) * (abs(nd_array - other) > beyond * abs(other)))
