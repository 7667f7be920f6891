"""Contests of a cell: who meets whom, with what both measured there."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headway.analysis.metric import Metric
from headway.analysis.sample import Measurements, SampleSummary


@dataclass(frozen=True, order=True)
class Pairing:
    """What is compared: a contender, and what it is held against."""

    contender: str
    against: str

    def __str__(self) -> str:
        return f"{self.contender} against {self.against}"


@dataclass(frozen=True)
class Contest:
    """Two contenders that meet in a cell, with what they measured there."""

    pairing: Pairing
    one: Measurements
    other: Measurements

    def judged(self, metric: Metric) -> Contest:
        """The same with what the metric is judged by in place of its values."""
        return Contest(self.pairing, metric.judged(self.one), metric.judged(self.other))

    @property
    def looks(self) -> int:
        """How often results were looked at, to stop or to go on."""
        return max(self.one.looks, self.other.looks)

    @property
    def samples(self) -> tuple[SampleSummary | None, SampleSummary | None]:
        """Summaries of both."""
        return self.one.sample, self.other.sample

    @property
    def values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of both, in the order of seeds."""
        return self.one.values, self.other.values

    def ranked(self, metric: Metric) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of both, with runs that timed out as the worst of all."""
        worst = math.inf if metric.less_is_better else 0.0
        return self.one.with_given_up(worst), self.other.with_given_up(worst)
