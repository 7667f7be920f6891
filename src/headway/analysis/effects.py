"""Effect sizes: relative differences of medians and means, and Cliff's delta."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.analysis.intervals import percentile_interval, resampled_means, resampled_medians
from headway.analysis.sample import Measurements, SampleSummary
from headway.statistics.interval import Interval


def relative_difference(
    sample_summary: SampleSummary | None, other: SampleSummary | None
) -> float | None:
    """Difference of medians over the other's median; None if there is none or it is 0."""
    if sample_summary is None or other is None or other.median == 0:
        return None
    return (sample_summary.median - other.median) / other.median


def relative_interval(measurements: Measurements, other: Measurements) -> Interval | None:
    """Confidence interval of the relative difference of medians, by bootstrap.

    Measurements with the same seeds are resampled by seed, so that what both met alike does not
    widen the interval; else each is resampled on its own. The draws are the same for equal
    numbers of runs, hence the interval too.

    Returns:
        The interval; None if a side has fewer than two values or may have a median of 0.
    """
    smallest = min(len(measurements.values), len(other.values))
    if smallest < 2 or min(other.values) <= 0:
        return None
    ours = resampled_medians(measurements.values, stream=0)
    base = resampled_medians(other.values, stream=0 if measurements.seeds == other.seeds else 1)
    return percentile_interval((ours - base) / base, smallest)


def relative_means(
    measurements: Measurements, other: Measurements
) -> tuple[float | None, Interval | None]:
    """Difference of means over the other's mean, and its interval as of `relative_interval`."""
    if measurements.sample is None or other.sample is None or other.sample.mean == 0:
        return None, None
    difference = (measurements.sample.mean - other.sample.mean) / other.sample.mean
    smallest = min(len(measurements.values), len(other.values))
    if smallest < 2 or min(other.values) <= 0:
        return difference, None
    ours = resampled_means(np.array(measurements.values)[:, None], stream=0)
    stream = 0 if measurements.seeds == other.seeds else 1
    base = resampled_means(np.array(other.values)[:, None], stream=stream)
    return difference, percentile_interval(((ours - base) / base).ravel(), smallest)


def delta_of(value: float, other: float) -> float | None:
    """Difference of two values over the larger of them, from -1 to 1; negative is less.

    Of the medians of HTTP/3 and HTTP/2 this is H3-Delta (Perna et al. 2022, equation 1). None if both are 0.
    """
    larger = max(value, other)
    return (value - other) / larger if larger > 0 else None


def delta(sample_summary: SampleSummary | None, other: SampleSummary | None) -> float | None:
    """The same of the medians of two samples; None if one is missing, too."""
    if sample_summary is None or other is None:
        return None
    return delta_of(sample_summary.median, other.median)


def cliffs_delta(values: Sequence[float], other: Sequence[float]) -> float | None:
    """Cliff's delta: P(one > other) - P(one < other), from -1 to 1 (Cliff 1993).

    None if a sample is empty.
    """
    if not values or not other:
        return None
    ordered, pairs = np.sort(other), len(values) * len(other)
    less = ordered.searchsorted(values, side="left").sum()
    not_greater = ordered.searchsorted(values, side="right").sum()
    return float((less + not_greater - pairs) / pairs)
