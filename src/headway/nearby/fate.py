"""The fate of a sentence at a neighbour."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from enum import StrEnum

from headway.analysis.difference import NEGLIGIBLE, Difference, differences
from headway.analysis.intervals import level_at_looks, mean_interval
from headway.analysis.metric import Metric
from headway.analysis.sample import Measurements
from headway.nearby.sentence import Claimed, Effect, log_of_difference
from headway.statistics.interval import LEVEL, Interval

LEFT = 0.25
"""Of a difference of which less than this share is left, it is said that it is gone."""
_FEWEST = 4
"""Pairs of which Student's t is told."""
_TRIFLE = math.log1p(NEGLIGIBLE)
_WIDE = math.log1p(0.1)
"""An interval that reaches farther tells of two contenders neither that they differ nor that they do not."""


class SentenceFate(StrEnum):
    """What becomes of a sentence."""

    HOLDS = "holds"
    TURNS = "turns around"
    GONE = "is gone"
    DIFFERS = "differs"
    """What was alike is not."""
    UNDECIDED = "undecided"
    FAILS = "cannot be compared"

    @property
    def is_change(self) -> bool:
        """Whether the sentence is another one there."""
        return self in (SentenceFate.TURNS, SentenceFate.GONE, SentenceFate.DIFFERS)


@dataclass(frozen=True)
class TriedFate:
    """A sentence at a neighbour.

    Attributes:
        fate: what becomes of it.
        leans: what would become of it if this neighbour were the only one; it is a change that is yet to be confirmed
            if the fate is none.
        difference: how the two differ there, with the interval of this neighbour alone.
        pairs: how many pairs of runs that rests on.
        exact: whether all runs of each contender measured the same, so that they count as one.
        estimate: what would become of it if the estimate were exact.
    """

    fate: SentenceFate
    leans: SentenceFate
    difference: Difference
    pairs: int
    exact: bool
    estimate: SentenceFate

    @property
    def is_settled(self) -> bool:
        """Whether more runs would change nothing that is said."""
        return self.fate is not SentenceFate.UNDECIDED

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it looks as if the sentence were another one there."""
        return self.fate is SentenceFate.UNDECIDED and self.leans.is_change


def judged(
    effect: Effect, contender: Measurements, against: Measurements, metric: Metric, neighbours: int
) -> TriedFate:
    """Judge a sentence by the runs at a neighbour.

    That it holds is said at the level of this neighbour alone. That it is another one there is said at a level for
    all neighbours together (Bonferroni): of a sentence that is as true everywhere, at most 5 % are said to change
    anywhere. Both allow for how often the runs are looked at.

    Args:
        effect: what the sentence claims.
        contender: runs of the contender.
        against: runs of what it is compared with.
        metric: what is compared.
        neighbours: how many neighbours the sentence is tried at.
    """
    ours, theirs = metric.judged(contender), metric.judged(against)
    alone = _with_student(differences(ours, theirs, metric), max(ours.looks, theirs.looks))
    strict = differences(ours, theirs, metric, 1 - (1 - LEVEL) / max(1, neighbours))
    exact = _is_exact(ours, theirs, alone)
    fate = leans = _fate(effect, alone, exact)
    if leans.is_change and _fate(effect, strict, exact) is not leans:
        fate = SentenceFate.UNDECIDED
    pairs = len(alone.logs) or min(len(ours.values), len(theirs.values))
    estimate = _fate(effect, alone, exact=True)
    return TriedFate(fate, leans, alone, pairs, exact, estimate)


def _with_student(difference: Difference, looks: int) -> Difference:
    """A difference of which so few pairs have no interval by ranks: with one by Student's t of the logarithms.

    It is good for what is clear at a first look. What is said of all neighbours together rests on ranks.
    """
    interval, logs = difference.interval, difference.logs
    few = interval is None or not interval.reaches_level
    if not few or len(logs) < _FEWEST or not all(map(math.isfinite, logs)):
        return difference
    sd = statistics.stdev(logs)
    by_t = mean_interval(len(logs), statistics.fmean(logs), sd, level_at_looks(LEVEL, looks))
    if by_t is None:
        return difference
    low, high = math.expm1(by_t.low), math.expm1(by_t.high)
    return replace(difference, interval=replace(by_t, low=low, high=high))


def _is_exact(contender: Measurements, against: Measurements, difference: Difference) -> bool:
    """Whether nothing varies: the runs of each are equal but for a trifle, or those of every pair are."""
    if (
        contender.given_up
        or against.given_up
        or min(len(contender.values), len(against.values)) < 2
    ):
        return False
    constant = all(side.sample and side.sample.on_one_path for side in (contender, against))
    return constant or (len(difference.logs) > 1 and not any(difference.logs))


def _fate(effect: Effect, difference: Difference, exact: bool) -> SentenceFate:
    if difference.sign is None:
        return SentenceFate.FAILS
    log = log_of_difference(difference)
    span = _span(difference.interval, log, exact)
    if span is None:
        return SentenceFate.UNDECIDED
    if effect.claimed is Claimed.ALIKE:
        return _of_alike(log, span)
    # Towards what is claimed is positive from here on.
    low, high = sorted((effect.sign * span[0], effect.sign * span[1]))
    left = max(_TRIFLE, LEFT * abs(effect.log))
    if high < 0 and effect.sign * log <= -_TRIFLE:
        return SentenceFate.TURNS
    if high < left:
        return SentenceFate.GONE
    return SentenceFate.HOLDS if low > 0 else SentenceFate.UNDECIDED


def _of_alike(log: float, span: tuple[float, float]) -> SentenceFate:
    low, high = span
    if (low > 0 or high < 0) and abs(log) >= _TRIFLE:
        return SentenceFate.DIFFERS
    return SentenceFate.HOLDS if max(-low, high) <= _WIDE else SentenceFate.UNDECIDED


def _span(interval: Interval | None, log: float, exact: bool) -> tuple[float, float] | None:
    """The interval as logarithms; None if so few runs have none of its level."""
    if exact:
        return log, log
    if interval is None or not interval.reaches_level:
        return None
    return _log_of_end(interval.low), _log_of_end(interval.high)


def _log_of_end(end: float) -> float:
    """The logarithm of an interval's end; both ends are -1 where the contender has none of what the other has."""
    if end <= -1:
        return -math.inf
    return math.log1p(end) if math.isfinite(end) else math.inf
