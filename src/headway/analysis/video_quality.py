"""Videos of a contender in a cell: quality, stalls and start-up delays of its finished runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from headway.analysis.intervals import mean_interval

COLUMNS = ("video_bitrate_mbit", "video_stalled_share", "video_first_segment_s")
"""What is needed of each run."""


@dataclass(frozen=True)
class MeanWithInterval:
    """A mean with its 95 % interval, which is the mean alone of a single run.

    Attributes:
        mean: of the runs.
        low: lower end of the interval.
        high: upper end.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> MeanWithInterval:
        """The mean of some values."""
        mean = fmean(values)
        interval = mean_interval(len(values), mean, stdev(values)) if len(values) > 1 else None
        return cls(mean, *((interval.low, interval.high) if interval else (mean, mean)))


@dataclass(frozen=True)
class WatchedVideos:
    """Videos that were watched: a value for each run.

    Attributes:
        bitrates_mbit: mean rates of their segments.
        stalled_shares: parts of the time after the picture had appeared in which it stood still.
        first_segments_s: when the first segment had come.
    """

    bitrates_mbit: tuple[float, ...]
    stalled_shares: tuple[float, ...]
    first_segments_s: tuple[float, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> WatchedVideos | None:
        """The videos of a contender's finished runs; None without any."""
        rates, stalled, firsts = (tuple(row[name]) for name in COLUMNS)
        return cls(rates, stalled, firsts) if rates and stalled else None

    @property
    def quality(self) -> MeanWithInterval:
        """Bitrate, Mbit/s."""
        return MeanWithInterval.of(self.bitrates_mbit)

    @property
    def stalled(self) -> MeanWithInterval:
        """Stalled share."""
        return MeanWithInterval.of(self.stalled_shares)


def median_speed_up(watched: WatchedVideos, against: WatchedVideos) -> float | None:
    """How much later the first segment came, over all pairs of runs (Perna and others 2022, equations 2 and 3).

    Of each pair, the difference of the two delays over the greater of them; the median of these. Negative where
    ``watched`` was faster. None if either has no delays.
    """
    pairs = [
        (first - other) / max(first, other)
        for first in watched.first_segments_s
        for other in against.first_segments_s
        if not math.isclose(max(first, other), 0.0)
    ]
    return median(pairs) if pairs else None
