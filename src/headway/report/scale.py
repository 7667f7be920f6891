"""Scales: from values to pixels, linear or logarithmic, with round values to label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from headway.analysis.metric import Metric
from headway.analysis.numbers import MINUS, plain, signed_percent

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
        values = _log_ticks(self.low, self.high, most) if self.log else []
        return values if len(values) > 1 else _linear_ticks(self.low, self.high, most)


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
        values = [f * 10.0**decade for decade in decades for f in factors]
        values = [tick for tick in values if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(values) <= most:
            return values
    return values[:: -(-len(values) // max(1, most))]


def value_scale(values: Sequence[float], start: float, end: float, wide: float = _WIDE) -> Scale:
    """A scale for measured values: from zero if they are alike in size, else logarithmic."""
    high = max(values, default=0.0)
    low = min(values, default=0.0)
    if low > 0 and high / low >= wide:
        return Scale(low / 1.15, high * 1.15, start, end, log=True)
    # Values that are all below zero reach up to it.
    first, last = min(0.0, low * 1.05), max(0.0, high * 1.05)
    return Scale(first, last if last > first else 1.0, start, end)


def tick_texts(metric: Metric, ticks: Sequence[float]) -> list[str]:
    """Labels of an axis, in one unit; zero has none."""
    factor, unit = metric.scale(ticks)
    return [written(tick * factor, unit) if tick else "0" for tick in ticks]


def written(value: float, unit: str = "") -> str:
    """A round value with its unit."""
    return f"{plain(value)} {unit}".strip().replace("-", MINUS)


def ratio_ticks(scale: Scale, apart: float) -> list[float]:
    """Ratios whose differences are even steps, as small as labels leave room for that are so far apart, in pixels."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5):
        first, last = math.ceil((scale.low - 1) / step), math.floor((scale.high - 1) / step)
        values = [1 + place * step for place in range(first, last + 1)]
        if all(abs(scale(b) - scale(a)) >= apart for a, b in pairwise(values)):
            return values
    return scale.ticks(max(2, int(abs(scale.end - scale.start) / apart)))


def ratio_text(ratio: float) -> str:
    """A ratio as a difference: ``+10 %``."""
    return "0" if math.isclose(ratio, 1) else difference_text(ratio - 1)


def difference_text(share: float) -> str:
    """A relative difference with its sign: ``+10 %``, ``×2.5``."""
    text = signed_percent(share)
    return text if text.startswith("×") else f"{text} %"
