"""Sampled values, weighted by the time that each stood."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self


@dataclass(frozen=True)
class OverTime:
    """Values and how long each stood, seconds; at least one did."""

    stood: tuple[tuple[float, float], ...]

    @classmethod
    def of(
        cls, samples: Iterable[tuple[float, float | None]], begin_s: float, end_s: float
    ) -> Self | None:
        """A sample's value stands until the next sample.

        Args:
            samples: times and values, in order; None where it is not known.
            begin_s: what was before does not count.
            end_s: what was after neither.

        Returns:
            None if no value is known between the two times.
        """
        spans = (
            (value, min(until_s, end_s) - max(at_s, begin_s))
            for (at_s, value), (until_s, _) in pairwise(samples)
            if value is not None
        )
        stood = tuple((value, span_s) for value, span_s in spans if span_s > 0)
        return cls(stood) if stood else None

    @property
    def mean(self) -> float:
        return math.fsum(value * span_s for value, span_s in self.stood) / self._total_s

    def quantile(self, share: float) -> float:
        """The least value that was not exceeded for this share of the time."""
        left_s = share * self._total_s
        ordered = sorted(self.stood)
        for value, span_s in ordered:
            left_s -= span_s
            if left_s <= 0:
                return value
        return ordered[-1][0]

    @property
    def _total_s(self) -> float:
        return math.fsum(span_s for _, span_s in self.stood)
