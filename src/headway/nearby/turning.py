"""Turning points between two neighbours: the span is halved, as a ratio, until it is narrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.nearby.fate import SentenceFate

FACTOR = 1.2
"""A span whose ends have this ratio is narrow enough."""


@dataclass(frozen=True)
class AxisPoint:
    """A sentence at a place of an axis of numbers.

    Attributes:
        number: the place.
        fate: what becomes of it.
        leans: what would, of a sentence that is undecided, by the estimate alone.
    """

    number: float
    fate: SentenceFate
    leans: SentenceFate

    @property
    def is_change(self) -> bool:
        """Whether the sentence is another one there, as far as anybody knows."""
        if self.fate is SentenceFate.UNDECIDED:
            return self.leans.is_change
        return self.fate.is_change


@dataclass(frozen=True)
class TurningSpan:
    """Two places of an axis, between which a sentence changes.

    Attributes:
        holds: the one at which it holds.
        changes: the one at which it does not.
    """

    holds: AxisPoint
    changes: AxisPoint

    @property
    def is_narrow(self) -> bool:
        """Whether the ends are near each other."""
        return self._ratio <= FACTOR

    @property
    def _ratio(self) -> float:
        return math.exp(abs(math.log(self.changes.number / self.holds.number)))

    @property
    def middle(self) -> float:
        """The place between them that is as far from both, as a ratio."""
        return float(f"{math.sqrt(self.holds.number * self.changes.number):.3g}")

    @property
    def is_decided(self) -> bool:
        """Whether what becomes of the sentence is known at both ends."""
        return SentenceFate.UNDECIDED not in (self.holds.fate, self.changes.fate)


def spans(own: float, points: Sequence[AxisPoint]) -> list[TurningSpan]:
    """Where a sentence changes on both sides of its own place; a side on which it does not has no span.

    Only what is known of a neighbour to be a change begins a span; in it, estimates decide where to look next.

    Args:
        own: the place of the sentence's own cell.
        points: what is known of others.
    """
    start = AxisPoint(own, SentenceFate.HOLDS, SentenceFate.HOLDS)
    lower = sorted(
        (point for point in points if point.number < own), key=lambda point: -point.number
    )
    upper = sorted(
        (point for point in points if point.number > own), key=lambda point: point.number
    )
    turning = []
    for side in (lower, upper):
        if not any(point.fate.is_change for point in side):
            continue
        holds = start
        for point in side:
            if point.is_change:
                turning.append(TurningSpan(holds, point))
                break
            holds = point
    return turning
