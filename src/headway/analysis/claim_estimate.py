"""Estimates with intervals, and where each has to lie: what a claim comes down to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.sample import ONE_PATH
from headway.planning.region import MOST_NEEDED, Region
from headway.statistics.interval import Interval, share_interval
from headway.statistics.pairs import fewest_pairs
from headway.study.published import RELATIVE_UNIT

FEWEST_RUNS = fewest_pairs()
"""With fewer, no interval of a median has 95 %, because those of signed ranks and of medians begin alike."""


class Judgement(StrEnum):
    """What our runs say of a claim."""

    HOLDS = "holds"
    OTHER_REASON = "holds, for another reason"
    """What is said is there, and what is named as its reason is not the reason."""
    BROKEN = "does not hold"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


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
        events: how many of the n there were, of a share; None of others.
        repeated: whether it is of repetitions that all measured the same, but for a trifle.
        fewest: how many of them it takes at the least before its interval ends on the side of the region's edge.
    """

    what: str
    value: float | None
    interval: Interval | None
    region: Region
    n: int
    unit: str
    of: str = "run"
    events: int | None = None
    repeated: bool = False
    fewest: int = 0

    @property
    def on_one_path(self) -> bool:
        """Whether its repetitions are one run over and over: an exact path, of which n is really 1."""
        if not self.repeated or self.n < FEWEST_RUNS or self.value is None or self.interval is None:
            return False
        whole = 100 + self.value if self.unit == RELATIVE_UNIT else abs(self.value)
        return self.interval.high - self.interval.low < ONE_PATH * whole

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
        """About how many of them would decide, by the interval's own rule; None if no number up to ``MOST_NEEDED`` would."""
        if self.judgement is not Judgement.UNDECIDED or self.value is None:
            return None
        if self.interval is None or not self.interval.reaches_level:
            return FEWEST_RUNS if self.n < FEWEST_RUNS else None
        if self.n < self.fewest:
            return self.fewest
        if self.events is not None:
            return self._needed_of_share(self.events)
        needed = 0.0
        for arm, distance in self._reaching_over(self.value, self.interval):
            # An interval's width falls with the square root of the number of runs.
            needed = max(needed, self.n * (arm / distance) ** 2 if distance > 0 else math.inf)
        return max(math.ceil(needed), self.n + 1) if needed <= MOST_NEEDED else None

    def _needed_of_share(self, events: int) -> int | None:
        """How many, if the share stays what it is."""
        for n in range(self.n + 1, MOST_NEEDED + 1):
            interval = share_interval(round(events * n / self.n), n).scaled(100)
            if self.region.holds(interval) or self.region.excludes(interval):
                return n
        return None

    def _reaching_over(self, value: float, interval: Interval) -> Iterator[tuple[float, float]]:
        """How far the interval reaches towards each edge that it reaches over, and how far the edge is."""
        low, high = self.region.low, self.region.high
        if value < low:
            yield interval.high - value, low - value
        elif value > high:
            yield value - interval.low, value - high
        else:
            if interval.low <= low:
                yield value - interval.low, value - low
            if interval.high >= high:
                yield interval.high - value, high - value
