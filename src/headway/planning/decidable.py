"""Claims that the runs of a study's plan can decide, if they do not scatter too widely."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from headway.errors import counted
from headway.planning.interim_looks import looks_of
from headway.planning.region import MOST_NEEDED, Region, failure_region
from headway.statistics.interval import Interval, share_interval
from headway.statistics.pairs import fewest_pairs
from headway.study.claim import Claim, Correlation, Failures, Monotone, Value
from headway.study.experiment import Coordinates, Experiment
from headway.study.population import SITES_AXIS
from headway.study.published import Statistic
from headway.study.siterules import ColumnPair, SiteMedian, SiteShare
from headway.study.units import magnitude

_FEWEST_OF_MEAN = 2
"""Student's t takes a spread."""
_MOST_SHORT = 8
"""More claims than these that cannot be decided are counted."""
_STEP = 2
"""Cells of a step along an axis."""


@dataclass(frozen=True)
class Prospect:
    """A claim, and what the planned runs have of that which its rule counts.

    Attributes:
        claim: the claim.
        planned: how many repetitions, cells, sites or runs its smallest part has; 0 of a claim of which nothing is
            measured.
        counts: what is counted: a singular.
        to_hold: the fewest of them that can show that it holds; None if more than ``MOST_NEEDED``.
        to_break: the fewest that can show that it does not, likewise.
    """

    claim: Claim
    planned: int
    counts: str
    to_hold: int | None
    to_break: int | None

    @property
    def measured(self) -> bool:
        """Whether anything is planned of what it is about."""
        return self.planned > 0

    @property
    def can_hold(self) -> bool:
        """Whether it can be shown to hold."""
        return self._reaches(self.to_hold)

    @property
    def can_break(self) -> bool:
        """Whether it can be shown not to hold."""
        return self._reaches(self.to_break)

    @property
    def lack(self) -> str:
        """What cannot be shown of it and what that would take; empty if both verdicts are possible."""
        if self.can_hold and self.can_break:
            return ""
        if self.can_hold or self.can_break:
            what, needed = (
                ("not to hold", self.to_break) if self.can_hold else ("to hold", self.to_hold)
            )
            shown = f"cannot be shown {what}"
        else:
            known = [number for number in (self.to_hold, self.to_break) if number is not None]
            shown, needed = "cannot be decided", min(known, default=None)
        takes = f"more than {MOST_NEEDED:,}" if needed is None else f"{needed}"
        return f"{shown}: it takes {takes}, and has {counted(self.planned, self.counts)}"

    def _reaches(self, needed: int | None) -> bool:
        return self.measured and needed is not None and self.planned >= needed


def prospects(experiment: Experiment) -> tuple[Prospect, ...]:
    """Every claim of an experiment."""
    return tuple(_prospect(experiment, claim) for claim in experiment.claims)


def outlook(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Which claims planned runs can decide, in lines; nothing if there are no claims."""
    every = [prospect for experiment in experiments for prospect in prospects(experiment)]
    if not every:
        return
    planned = [prospect for prospect in every if prospect.measured]
    short = [prospect for prospect in planned if prospect.lack]
    text = f"{counted(len(planned) - len(short), 'claim')} of {len(every)} can be decided by runs that scatter little"
    if left := len(every) - len(planned):
        text += f"; {left} {'is' if left == 1 else 'are'} about what these runs leave out"
    yield f"{text}. Of the others:" if short else f"{text}."
    yield from (f"- {prospect.claim.says}: {prospect.lack}." for prospect in short[:_MOST_SHORT])
    if len(short) > _MOST_SHORT:
        yield f"- and {len(short) - _MOST_SHORT} more."


def _prospect(experiment: Experiment, claim: Claim) -> Prospect:
    cells = [*_cells(experiment, claim)]
    match claim.rule:
        case Failures() as rule:
            runs = experiment.repetitions.most * len(cells)
            return _of_share(claim, runs, "run", failure_region(rule))
        case SiteShare(value=value, low=low, high=high):
            region = Region.of(value, low, high, has_edges=False)
            return _of_share(claim, _smallest(cells, SITES_AXIS), "site", region)
        case _:
            planned, counts = _planned(experiment, claim, cells)
            needed = _needed(experiment, claim) if counts == "repetition" else fewest_pairs()
            return Prospect(claim, planned, counts, needed, needed)


def _planned(experiment: Experiment, claim: Claim, cells: Sequence[Coordinates]) -> tuple[int, str]:
    """How many there are of what a rule counts, and what that is."""
    match claim.rule:
        case Correlation(axis=axis):
            known = [
                cell for cell in cells if axis is None or magnitude(cell.get(axis)) is not None
            ]
            return len(known), "cell"
        case SiteMedian() | ColumnPair():
            return _smallest(cells, SITES_AXIS), "site"
        case Monotone(axis=axis) if max(_rows(cells, axis).values(), default=0) < _STEP:
            return 0, "repetition"
        case _ if claim.over is not None:
            return _smallest(cells, claim.over), "site" if claim.over == SITES_AXIS else "cell"
        case _:
            return experiment.repetitions.most if cells else 0, "repetition"


def _needed(experiment: Experiment, claim: Claim) -> int:
    """The fewest repetitions of which an interval has its level."""
    if isinstance(claim.rule, Value) and claim.rule.statistic is Statistic.MEAN:
        return _FEWEST_OF_MEAN
    return fewest_pairs(len(looks_of(experiment)))


def _of_share(claim: Claim, planned: int, counts: str, region: Region) -> Prospect:
    """Of a share, whose interval is as wide as its number of observations makes it."""
    return Prospect(claim, planned, counts, *_fewest_of_share(region))


def _cells(experiment: Experiment, claim: Claim) -> Iterator[Coordinates]:
    """Those that a claim is about, and that have all contenders that it names."""
    strata = experiment.population.sites if experiment.population and claim.strata else None
    for cell in experiment.grid():
        if not claim.is_about(cell):
            continue
        if strata is not None and strata.get(str(cell.get(SITES_AXIS))) not in claim.strata:
            continue
        if not any(experiment.excludes({**cell, "contender": name}) for name in claim.named):
            yield cell


def _smallest(cells: Sequence[Coordinates], axis: str) -> int:
    """The fewest cells that differ in an axis alone."""
    return min(_rows(cells, axis).values(), default=0)


def _rows(cells: Sequence[Mapping[str, object]], axis: str) -> dict[str, int]:
    """How many cells differ in an axis alone, for each value of all others."""
    numbers: dict[str, int] = {}
    for cell in cells:
        others = repr([pair for pair in sorted(cell.items()) if pair[0] != axis])
        numbers[others] = numbers.get(others, 0) + 1
    return numbers


@lru_cache(maxsize=64)
def _fewest_of_share(region: Region) -> tuple[int | None, int | None]:
    """The fewest observations that can show that a share lies in a region, in percent, and that it does not."""
    numbers = range(1, MOST_NEEDED + 1)
    holds = (n for n in numbers if region.holds(_lowest_above(region, n)))
    excludes = (n for n in numbers if any(region.excludes(_share(count, n)) for count in (0, n)))
    return next(holds, None), next(excludes, None)


def _lowest_above(region: Region, n: int) -> Interval:
    """The lowest interval that does not reach below a region, of those of all shares of so many observations.

    Both ends rise with the share: where this one reaches beyond the region, every other does.
    """
    beyond = replace(region, high=math.inf)
    first = bisect_left(range(n), True, key=lambda count: beyond.holds(_share(count, n)))
    return _share(first, n)


def _share(count: int, n: int) -> Interval:
    """The interval of a share, in percent."""
    return share_interval(count, n).scaled(100)
