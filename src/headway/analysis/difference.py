"""How two contenders of a cell differ: by how much, how sure that is, and what would have been seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from scipy import stats

from headway.analysis.effects import relative_difference, relative_interval
from headway.analysis.intervals import LEVEL, Interval
from headway.analysis.metric import Metric
from headway.analysis.paired import log_ratio, typical, typical_interval
from headway.analysis.sample import Measurements
from headway.analysis.significance import PAIRED_ALPHA

NEGLIGIBLE = 0.01
"""Contenders are practically equal if they are shown to differ by less than this."""
EQUIVALENCE_LEVEL = 1 - 2 * PAIRED_ALPHA
"""Level of the interval that two one-sided tests need within ``NEGLIGIBLE``."""
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
        narrower: the interval at ``EQUIVALENCE_LEVEL``.
    """

    seeds: tuple[int, ...]
    logs: tuple[float, ...]
    relative: float | None
    sign: int | None
    interval: Interval | None
    narrower: Interval | None

    @property
    def equivalent(self) -> bool:
        """Whether two one-sided tests put the ratio within ``NEGLIGIBLE`` of 1 (Schuirmann 1987)."""
        if self.narrower is None or self.narrower.coverage < EQUIVALENCE_LEVEL:
            return False
        most = NEGLIGIBLE
        return 1 / (1 + most) - 1 < self.narrower.low and self.narrower.high < most

    @property
    def detectable(self) -> float | None:
        """The smallest difference that would have been significant with the probability ``POWER``.

        From how wide the interval is, as if the ratios' logarithms were normal; None if so few
        runs, or such scattered ones, would have shown none.
        """
        one = self.interval
        if one is None or one.low <= -1 or math.isinf(one.high) or not one.reaches_level:
            return None
        half_width = (math.log1p(one.high) - math.log1p(one.low)) / 2
        return math.expm1(half_width * _reach(len(self.logs)))


def differences(one: Measurements, other: Measurements, metric: Metric) -> Difference:
    """How the contender's runs differ from the other's, by pairs with the same seed if there are any."""
    seeds, logs = _paired(one, other, metric)
    return of_pairs(logs, seeds) if logs else _unpaired(one, other)


def _paired(
    one: Measurements, other: Measurements, metric: Metric
) -> tuple[list[int], list[float]]:
    """Seeds, and logarithms of the ratios of runs with the same seed.

    A run that timed out is worse than any that finished: the ratio is infinite, or 0. A seed that was
    used twice pairs runs in order of repetition.
    """
    worst = math.inf if metric.less_is_better else 0.0
    ours, theirs = one.ranked(worst), other.ranked(worst)
    seeds, logs = [], []
    for seed in sorted(ours.keys() & theirs.keys()):
        for first, second in zip(ours[seed], theirs[seed], strict=False):
            seeds.append(seed)
            logs.append(log_ratio(first, second))
    return seeds, logs


def of_pairs(logs: Sequence[float], seeds: Sequence[int] = ()) -> Difference:
    """The typical ratio of pairs and its intervals."""
    middle = typical(logs)
    return Difference(
        seeds=tuple(seeds),
        logs=tuple(logs),
        relative=None if math.isinf(middle) else math.expm1(middle),
        sign=(middle > 0) - (middle < 0),
        interval=_relative(typical_interval(logs)),
        narrower=_relative(typical_interval(logs, EQUIVALENCE_LEVEL)),
    )


def _relative(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return replace(interval, low=math.expm1(interval.low), high=math.expm1(interval.high))


def _unpaired(one: Measurements, other: Measurements) -> Difference:
    """The medians' difference, with the bootstrap's interval: nothing pairs the runs."""
    relative = relative_difference(one.sample, other.sample)
    interval = relative_interval(one, other)
    sign = None
    if one.sample and other.sample:
        apart = one.sample.median - other.sample.median
        sign = (apart > 0) - (apart < 0)
    return Difference((), (), relative, sign, interval, interval)


@lru_cache(maxsize=1024)
def _reach(pairs: int) -> float:
    """How many half widths of the interval a difference must have to be seen with ``POWER``."""
    freedom = max(1, pairs - 1) if pairs else math.inf
    ends = (stats.t.ppf(share, freedom) for share in (POWER, (1 + LEVEL) / 2))
    power, level = map(float, ends)
    return 1 + power / level
