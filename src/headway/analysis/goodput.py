"""Bulk flows over time: a contender's goodput, and how much it has received beside another."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.analysis.intervals import resampled_means
from headway.analysis.sample import Measurements, Observation
from headway.diagnosis.goodput import INTERVAL_S
from headway.statistics.interval import LEVEL
from headway.study.published import RunInterval, TimeOrigin

Values = NDArray[np.floating[Any]]

_EXACT_S = 1e-6
"""Times that differ by less are the same."""


@dataclass(frozen=True)
class FlowRun:
    """A finished bulk run: what pairs it with one of another contender, and what it received.

    Attributes:
        seed: its seed.
        rep: its repetition.
        bytes: in each interval of ``INTERVAL_S`` from when the client began to the last byte.
        first_byte_s: when it received the first byte of payload; None if it is not known.
        end_s: when it was over, since the client began; None if that is not known.
    """

    seed: int
    rep: int
    bytes: tuple[int, ...]
    first_byte_s: float | None = None
    end_s: float | None = None

    def goodput_mbit(self, span: RunInterval) -> float | None:
        """Goodput of an interval of time, Mbit/s; None if it was over before the interval was."""
        zero_s = 0.0 if span.origin is TimeOrigin.START else self.first_byte_s
        if zero_s is None or self.end_s is None or zero_s + span.to_s > self.end_s + _EXACT_S:
            return None
        before, after = np.interp((zero_s + span.from_s, zero_s + span.to_s), *self._totals)
        return float(after - before) * 8e-6 / (span.to_s - span.from_s)

    @cached_property
    def _totals(self) -> tuple[Values, Values]:
        """Times and bytes so far, of which none came before the first or after the end."""
        totals = np.concatenate([[0.0], np.cumsum(self.bytes)])
        times_s: Values = INTERVAL_S * np.arange(len(totals))
        before = int(np.count_nonzero(totals == 0)) - 1
        for place, within, moment_s in (
            (before, slice(before, before + 2), self.first_byte_s),
            (-1, slice(-2, None), self.end_s),
        ):
            begin_s, end_s = times_s[within][[0, -1]]
            if moment_s is not None and begin_s < moment_s < end_s:
                times_s[place] = moment_s
        return times_s, totals


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

    def goodput_in(self, span: RunInterval) -> Measurements:
        """Goodput of an interval of time in every run that lasted so long, Mbit/s."""
        return Measurements.of(
            Observation(run.seed, run.rep, goodput)
            for run in self.runs
            if (goodput := run.goodput_mbit(span)) is not None
        )

    def first_byte_s(self) -> float | None:
        """Mean moment of the first byte of payload; None if no run tells it."""
        known = [run.first_byte_s for run in self.runs if run.first_byte_s is not None]
        return statistics.fmean(known) if known else None

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


def ratios_over_time(received: Received, other: Received) -> Ratios:
    """The mean of the bytes that a contender's runs had received over the mean of another's.

    The intervals are percentile intervals of the bootstrap for each time on its own. Runs with the
    same seeds are resampled by seed, else each contender's on their own.
    """
    intervals = max(received.intervals, other.intervals)
    ours, base = received.totals(intervals), other.totals(intervals)
    values = _ratios(ours.mean(axis=0), base.mean(axis=0))
    if min(len(ours), len(base)) < 2:
        nothing = np.full(intervals, np.nan)
        return Ratios(values, nothing, nothing)
    resampled = _ratios(
        resampled_means(ours, stream=0),
        resampled_means(base, stream=0 if received.seeds == other.seeds else 1),
    )
    ends: Sequence[float] = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(resampled, ends, axis=0)
    return Ratios(values, low, high)


def _ratios(ours: Values, base: Values) -> Values:
    return np.divide(ours, base, out=np.full_like(base, np.nan), where=base > 0)
