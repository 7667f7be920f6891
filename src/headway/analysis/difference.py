"""The difference of two contenders of a cell: its size, how sure it is, and what would have been seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from headway.analysis.intervals import level_at_looks
from headway.analysis.metric import Metric
from headway.analysis.paired import log_ratio, typical, typical_interval
from headway.analysis.sample import Measurements
from headway.analysis.unpaired import typical_shift, typical_shift_interval
from headway.statistics.distributions import student_quantile
from headway.statistics.interval import LEVEL, Interval

NEGLIGIBLE = 0.01
"""Contenders are practically equal if they are shown to differ by less than this."""
POWER = 0.8
"""Probability with which the smallest detectable difference would have been significant."""


@dataclass(frozen=True)
class Difference:
    """A contender's values over another's, less 1: -0.2 is 20 % less.

    Attributes:
        seeds: of the pairs, in order; empty if nothing pairs the runs.
        logs: logarithms of the pairs' ratios, likewise.
        relative: the typical ratio less 1; None if there is none, or none that is finite.
        sign: of that, also where it is not finite: -1 if the contender's values are smaller.
        interval: its confidence interval; an end may be infinite where runs timed out.
    """

    seeds: tuple[int, ...]
    logs: tuple[float, ...]
    relative: float | None
    sign: int | None
    interval: Interval | None

    @property
    def equivalent(self) -> bool:
        """Whether the interval lies within ``NEGLIGIBLE`` of equal (Schuirmann 1987, at the interval's level)."""
        if self.interval is None or not self.interval.reaches_level:
            return False
        most = NEGLIGIBLE
        return 1 / (1 + most) - 1 < self.interval.low and self.interval.high < most

    @property
    def detectable(self) -> float | None:
        """The smallest difference that would have been significant with the probability ``POWER``.

        From how wide the interval is, as if the ratios' logarithms were normal; None if so few
        runs, or such scattered ones, would have shown none.
        """
        interval = self.interval
        if (
            interval is None
            or interval.low <= -1
            or math.isinf(interval.high)
            or not interval.reaches_level
        ):
            return None
        half_width = (math.log1p(interval.high) - math.log1p(interval.low)) / 2
        return math.expm1(half_width * _reach(len(self.logs), interval.level))


def differences(
    measurements: Measurements, other: Measurements, metric: Metric, level: float = LEVEL
) -> Difference:
    """How the contender's runs differ from the other's, by pairs with the same seed if there are any.

    Args:
        measurements: the contender's runs.
        other: the other's.
        metric: what was measured.
        level: confidence of the interval, whatever decided how many runs there are.
    """
    level = level_at_looks(level, max(measurements.looks, other.looks))
    # A run that timed out is worse than any that finished: the ratio is infinite, or 0.
    worst = math.inf if metric.less_is_better else 0.0
    seeds, logs = _paired(measurements.ranked(worst), other.ranked(worst))
    if logs:
        return of_pairs(logs, seeds, level)
    if measurements.sample is None or other.sample is None:
        return Difference((), (), None, None, None)
    ones, others = measurements.with_given_up(worst), other.with_given_up(worst)
    interval = typical_shift_interval(ones, others, level)
    return _of_typical(typical_shift(ones, others), interval, (), ())


def _paired(
    ours: Mapping[int, Sequence[float]], theirs: Mapping[int, Sequence[float]]
) -> tuple[list[int], list[float]]:
    """Seeds, and logarithms of the ratios of runs with the same seed, in order of repetition."""
    seeds, logs = [], []
    for seed in sorted(ours.keys() & theirs.keys()):
        for first, second in zip(ours[seed], theirs[seed], strict=False):
            seeds.append(seed)
            logs.append(log_ratio(first, second))
    return seeds, logs


def of_pairs(logs: Sequence[float], seeds: Sequence[int] = (), level: float = LEVEL) -> Difference:
    """The typical ratio of pairs and its interval."""
    return _of_typical(typical(logs), typical_interval(logs, level), seeds, logs)


def _of_typical(
    middle: float | None, interval: Interval | None, seeds: Sequence[int], logs: Sequence[float]
) -> Difference:
    return Difference(
        seeds=tuple(seeds),
        logs=tuple(logs),
        relative=None if middle is None or math.isinf(middle) else math.expm1(middle),
        sign=None if middle is None else (middle > 0) - (middle < 0),
        interval=interval
        and replace(interval, low=math.expm1(interval.low), high=math.expm1(interval.high)),
    )


@lru_cache(maxsize=1024)
def _reach(pairs: int, level: float) -> float:
    """How many half widths of the interval a difference must have to be seen with ``POWER``."""
    freedom = max(1, pairs - 1) if pairs else math.inf
    power, reach = (student_quantile(share, freedom) for share in (POWER, (1 + level) / 2))
    return 1 + power / reach
