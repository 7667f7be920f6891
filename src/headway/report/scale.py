"""Scales: from values to pixels, linear or logarithmic, with round values to label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.analysis.metric import Metric
from headway.analysis.numbers import MINUS, plain

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_WIDE = 30.0
"""Values whose greatest is this many times the least are shown on a logarithmic scale."""


@dataclass(frozen=True)
class Scale:
    """Where values stand along an axis.

    Attributes:
        low: value at the start.
        high: value at the end, unequal to ``low``.
        start: pixel at the start; greater than ``end`` where values grow upwards.
        end: pixel at the end.
        log: whether equal ratios, not equal differences, have equal lengths.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """At most this many round values within the scale, evenly spread."""
        found = _log_ticks(self.low, self.high, most) if self.log else []
        return found if len(found) > 1 else _linear_ticks(self.low, self.high, most)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of the smallest round step of which few enough fit."""
    rough = (high - low) / max(1, most)
    if rough <= 0:
        return [low]
    unit = 10.0 ** math.floor(math.log10(rough))
    for step in (unit * factor for factor in _ROUND):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [round(place * step, 12) for place in range(first, last + 1)]
    return [low]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, with 2 and 5, or 3, times them where there is room, or every n-th."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [f * 10.0**decade for decade in decades for f in factors]
        found = [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // max(1, most))]


def value_scale(values: Sequence[float], start: float, end: float, wide: float = _WIDE) -> Scale:
    """A scale for measured values: from zero if they are alike in size, else logarithmic."""
    high = max(values, default=0.0)
    low = min(values, default=0.0)
    if low > 0 and high / low >= wide:
        return Scale(low / 1.15, high * 1.15, start, end, log=True)
    return Scale(min(0.0, low * 1.05), high * 1.05 or 1.0, start, end)


def tick_texts(metric: Metric, ticks: Sequence[float]) -> list[str]:
    """Labels of an axis, in one unit; zero has none."""
    factor, unit = metric.scale(ticks)
    return [written(tick * factor, unit) if tick else "0" for tick in ticks]


def written(value: float, unit: str = "") -> str:
    """A round value with its unit."""
    return f"{plain(value)} {unit}".strip().replace("-", MINUS)
