"""Estimates with intervals, and where each has to lie: what a claim comes down to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.intervals import Interval
from headway.study.claim import USUAL_TOLERANCE

FEWEST_RUNS = 6
"""With fewer, no interval of a median has 95 %."""
_MOST_REPETITIONS = 100_000
"""Above this, nobody will carry them out."""


class Judgement(StrEnum):
    """What our runs say of a claim."""

    HOLDS = "holds"
    BROKEN = "does not hold"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Region:
    """Where a quantity has to lie.

    Attributes:
        low: its lower edge.
        high: its upper edge.
        has_edges: whether a quantity may lie on an edge ("at most"), or has to lie beside it ("less than").
    """

    low: float = -math.inf
    high: float = math.inf
    has_edges: bool = False

    @classmethod
    def of(
        cls, value: float | None, low: float | None, high: float | None, *, has_edges: bool = True
    ) -> Region:
        """About a published value, or a range whose ends may be open."""
        if value is not None:
            off = USUAL_TOLERANCE * abs(value)
            return cls(value - off, value + off, has_edges=True)
        ends = -math.inf if low is None else low, math.inf if high is None else high
        return cls(*ends, has_edges=has_edges)

    def holds(self, interval: Interval) -> bool:
        """Whether all of an interval is inside; nothing lies beyond an open end."""
        if self.has_edges:
            return self.low <= interval.low and interval.high <= self.high
        above = self.low < interval.low or math.isinf(self.low)
        return above and (interval.high < self.high or math.isinf(self.high))

    def excludes(self, interval: Interval) -> bool:
        """Whether none of an interval is inside."""
        if self.has_edges:
            return interval.high < self.low or self.high < interval.low
        return interval.high <= self.low or self.high <= interval.low

    def distance(self, value: float) -> float:
        """From a value to the nearer edge."""
        return min(abs(value - self.low), abs(value - self.high))


@dataclass(frozen=True)
class Finding:
    """One estimate, and where it has to lie.

    Attributes:
        what: what is estimated: a cell, or two neighbours on an axis.
        value: the estimate; None if nothing was measured.
        interval: its confidence interval; None of too few runs.
        region: where it has to lie.
        n: number of runs, or pairs of runs, that it rests on; or of what `of` says.
        unit: of value, interval and region.
        of: what is counted, where that is cells and not runs: a singular.
    """

    what: str
    value: float | None
    interval: Interval | None
    region: Region
    n: int
    unit: str
    of: str = "run"

    @property
    def said_unit(self) -> str:
        """The unit as it stands behind a number; nothing of what has none."""
        return f" {self.unit}" if self.unit not in ("", "1") else ""

    @property
    def judgement(self) -> Judgement:
        """What it says."""
        if self.value is None:
            return Judgement.NOT_MEASURED
        if self.interval is None or not self.interval.reaches_level:
            return Judgement.UNDECIDED
        if self.region.holds(self.interval):
            return Judgement.HOLDS
        return Judgement.BROKEN if self.region.excludes(self.interval) else Judgement.UNDECIDED

    @property
    def needed(self) -> int | None:
        """About how many of them would decide; None if it is decided, or no number would.

        An interval's width falls with the square root of the number of runs.
        """
        if self.judgement is not Judgement.UNDECIDED or self.value is None:
            return None
        if self.interval is None or not self.interval.reaches_level:
            return FEWEST_RUNS if self.n < FEWEST_RUNS else None
        distance = self.region.distance(self.value)
        half = max(self.interval.high - self.value, self.value - self.interval.low)
        if distance <= 0 or not math.isfinite(half):
            return None
        needed = math.ceil(self.n * (half / distance) ** 2)
        return max(needed, self.n + 1) if needed <= _MOST_REPETITIONS else None
