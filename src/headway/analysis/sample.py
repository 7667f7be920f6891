"""A sample: what the finished runs of one contender in a cell measured, and its summary."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from headway.analysis.intervals import level_at_looks, mean_interval, median_interval, quantile
from headway.statistics.interval import LEVEL, Interval


@dataclass(frozen=True)
class Observation:
    """The value that one run measured, with what pairs it with a run of another contender."""

    seed: int
    rep: int
    value: float


ONE_PATH = 0.003
"""Repetitions that differ by no more than this share of what they measure met one exact path."""


@dataclass(frozen=True)
class SampleSummary:
    """A sample's summary.

    Attributes:
        n: number of values.
        median: median.
        interval: confidence interval of the median; None for a single value.
        mean: arithmetic mean.
        mean_interval: confidence interval of the mean; None for a single value.
        sd: standard deviation (n - 1 in the denominator); None for a single value.
        quartiles: lower and upper quartile, interpolated linearly (Hyndman and Fan's type 7).
        low: smallest value.
        high: largest value.
    """

    n: int
    median: float
    interval: Interval | None
    mean: float
    mean_interval: Interval | None
    sd: float | None
    quartiles: tuple[float, float]
    low: float
    high: float

    @property
    def constant(self) -> bool:
        """Whether all values are equal."""
        return self.low == self.high

    @property
    def on_one_path(self) -> bool:
        """Whether these are repetitions of one run over and over, but for a trifle: an exact path, of which n is really 1."""
        return self.n > 1 and self.high - self.low <= ONE_PATH * abs(self.median)

    @property
    def iqr(self) -> float:
        """Interquartile range."""
        return self.quartiles[1] - self.quartiles[0]


def summarise(values: Sequence[float], looks: int = 1) -> SampleSummary | None:
    """Summarise a sample; None if there is nothing in it.

    Args:
        values: the sample.
        looks: how often results were looked at, to stop or to go on.
    """
    if not values:
        return None
    ordered = sorted(values)
    n, constant = len(ordered), ordered[0] == ordered[-1]
    level = level_at_looks(LEVEL, looks)
    mean = ordered[0] if constant else statistics.fmean(ordered)
    sd = None if n < 2 else 0.0 if constant else _deviation(ordered, mean)
    return SampleSummary(
        n=n,
        median=statistics.median(ordered),
        interval=median_interval(ordered, level),
        mean=mean,
        mean_interval=mean_interval(n, mean, sd, level),
        sd=sd,
        quartiles=(quantile(ordered, 0.25), quantile(ordered, 0.75)),
        low=ordered[0],
        high=ordered[-1],
    )


def _deviation(values: Sequence[float], mean: float) -> float:
    """Standard deviation; the library's is exact, and slow for that."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


@dataclass(frozen=True)
class Measurements:
    """The values that a contender's finished runs measured in a cell, by seed.

    Attributes:
        observations: the finished runs.
        given_up: seed and repetition of the runs that timed out: of these it is known only that
            they are worse than any that finished.
        looks: how often results were looked at, to stop or to go on: what intervals and tests have to allow for.
    """

    observations: tuple[Observation, ...]
    given_up: tuple[tuple[int, int], ...] = ()
    looks: int = 1

    @classmethod
    def of(
        cls,
        observations: Iterable[Observation],
        given_up: Iterable[tuple[int, int]] = (),
        looks: int = 1,
    ) -> Measurements:
        """These observations, whatever their order."""
        by_seed = sorted(observations, key=lambda run: (run.seed, run.rep, run.value))
        return cls(tuple(by_seed), tuple(sorted(given_up)), looks)

    def ranked(self, worst: float) -> dict[int, list[float]]:
        """Values by seed, in order of repetition; runs that timed out have the worst."""
        lost = (Observation(seed, rep, worst) for seed, rep in self.given_up)
        values: dict[int, list[float]] = defaultdict(list)
        for run in sorted((*self.observations, *lost), key=lambda run: (run.seed, run.rep)):
            values[run.seed].append(run.value)
        return values

    def typical(self, worst: float) -> float | None:
        """The median of all runs, those that timed out as the worst; None if there are none."""
        values = self.with_given_up(worst)
        return statistics.median(values) if values else None

    def with_given_up(self, worst: float) -> tuple[float, ...]:
        """All values, runs that timed out with the worst."""
        return (*self.values, *(worst for _ in self.given_up))

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The values in the order of seeds."""
        return tuple(run.value for run in self.observations)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds in order."""
        return tuple(run.seed for run in self.observations)

    @cached_property
    def sample(self) -> SampleSummary | None:
        """Summary; None if nothing was measured."""
        return summarise(self.values, self.looks)
