"""Bulk flows over time: a contender's goodput, and how much it has received beside another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.analysis.intervals import LEVEL, resampled_means
from headway.analysis.sample import Measurements, Observation
from headway.results.goodput import INTERVAL_S

Values = NDArray[np.floating[Any]]

AROUND_S = 1.0
"""Goodput at a time is that of so long a span, half before it and half after it.

A sender in slow start sends once in a round trip: over a geostationary satellite an interval of
100 ms has data or none by chance.
"""


@dataclass(frozen=True)
class FlowRun:
    """A finished bulk run: what pairs it with one of another contender, and what it received.

    Attributes:
        seed: its seed.
        rep: its repetition.
        bytes: in each interval of ``INTERVAL_S`` from when the client began to the last byte.
    """

    seed: int
    rep: int
    bytes: tuple[int, ...]


@dataclass(frozen=True)
class Received:
    """What a contender's finished bulk runs in a cell received over time, by seed."""

    runs: tuple[FlowRun, ...]

    @classmethod
    def of(cls, runs: Iterable[FlowRun]) -> Received:
        """These runs, whatever their order."""
        return cls(tuple(sorted(runs, key=lambda run: (run.seed, run.rep))))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds in order."""
        return tuple(run.seed for run in self.runs)

    @property
    def intervals(self) -> int:
        """Number of intervals to the last byte of any run."""
        return max((len(run.bytes) for run in self.runs), default=0)

    @cached_property
    def goodput_mbit(self) -> Values:
        """Mean over the runs in each interval, Mbit/s; a run that has ended receives nothing."""
        growth: Values = np.diff(self._totals(self.intervals).mean(axis=0))
        return growth * 8e-6 / INTERVAL_S

    def goodput_at(self, time_s: float) -> Measurements:
        """Goodput of every run around a time, over ``AROUND_S``, Mbit/s."""
        totals = self._totals(self.intervals)
        edges_s = INTERVAL_S * np.arange(totals.shape[1])
        ends_s = (time_s - AROUND_S / 2, time_s + AROUND_S / 2)
        spans = [np.interp(ends_s, edges_s, row) for row in totals]
        return Measurements.of(
            Observation(run.seed, run.rep, float(after - before) * 8e-6 / AROUND_S)
            for run, (before, after) in zip(self.runs, spans, strict=True)
        )

    def totals(self, intervals: int) -> Values:
        """Bytes so far at the end of each of so many intervals, a row for each run."""
        return self._totals(intervals)[:, 1:]

    def _totals(self, intervals: int) -> Values:
        """The same with a column for the start."""
        rows = np.zeros((len(self.runs), intervals + 1))
        for row, run in zip(rows, self.runs, strict=True):
            row[1 : len(run.bytes) + 1] = run.bytes
        return rows.cumsum(axis=1)


@dataclass(frozen=True)
class Ratios:
    """How many times as much a contender had received as another, at the end of each interval.

    Attributes:
        values: the ratios; NaN while the other had received nothing.
        low: lower ends of their confidence intervals; NaN with a single run, and where the other
            had received nothing in some resample.
        high: upper ends.
    """

    values: Values
    low: Values
    high: Values


def ratios_over_time(one: Received, other: Received) -> Ratios:
    """The mean of the bytes that a contender's runs had received over the mean of another's.

    The intervals are percentile intervals of the bootstrap for each time on its own. Runs with the
    same seeds are resampled by seed, else each contender's on their own.
    """
    intervals = max(one.intervals, other.intervals)
    ours, base = one.totals(intervals), other.totals(intervals)
    values = _ratios(ours.mean(axis=0), base.mean(axis=0))
    if min(len(ours), len(base)) < 2:
        nothing = np.full(intervals, np.nan)
        return Ratios(values, nothing, nothing)
    resampled = _ratios(
        resampled_means(ours, stream=0),
        resampled_means(base, stream=0 if one.seeds == other.seeds else 1),
    )
    ends: Sequence[float] = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(resampled, ends, axis=0)
    return Ratios(values, low, high)


def _ratios(ours: Values, base: Values) -> Values:
    return np.divide(ours, base, out=np.full_like(base, np.nan), where=base > 0)
