"""Interactions: factors at whose levels a difference between two contenders is not the same.

Each repetition has its mean over the cells of each level, so that of two levels the difference of these
means is one observation per repetition: the pairs of a signed rank test, as everywhere. All pairs of levels
of all factors are one family. Factors whose levels do not stand in the same cells otherwise are left out,
since there the levels could differ for another reason.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from headway.analysis.analysis import Analysis
from headway.analysis.difference import NEGLIGIBLE
from headway.analysis.means import Case, alike, centre, means_by_seed
from headway.analysis.metric import Metric
from headway.analysis.significance import TestResult, adjusted, at_looks, wilcoxon
from headway.analysis.verdict import Verdict, direction

_MOST_LEVELS = 6
"""If a factor has more levels, only the first and the last are tested."""


@dataclass(frozen=True)
class Level:
    """A level of a factor.

    Attributes:
        title: as part of a cell's title: ``loss 2 %``.
        relative: the mean difference of its cells.
        leaning: which way that is.
        alike: how many of its cells went the way of the whole.
    """

    title: str
    relative: float
    leaning: Verdict
    alike: int


@dataclass(frozen=True)
class Interaction:
    """A factor that a difference depends on, or may depend on.

    Attributes:
        factor: its name.
        levels: its levels, in order.
        test: that of the two levels that are shown best to differ, adjusted; None if nothing varies
            between repetitions.
        seen: whether two levels are shown to differ, by whatever.
        established: whether they are, by more than what does not matter, and the
            contenders at one of them.
    """

    factor: str
    levels: tuple[Level, ...]
    test: TestResult | None
    seen: bool
    established: bool

    @property
    def spread(self) -> float:
        """How much the difference varies between levels: the variance of its logarithms."""
        return statistics.pvariance([math.log1p(level.relative) for level in self.levels])


def interactions(
    analysis: Analysis, cases: Sequence[Case], leaning: Verdict
) -> tuple[Interaction, ...]:
    """All factors that a difference could depend on, those first that it depends on most.

    Args:
        analysis: the experiment.
        cases: the comparisons of two contenders, with their cells.
        leaning: which way they differ over all cells.
    """
    by_factor = {
        place: groups
        for place, factor in enumerate(analysis.conditions.factors)
        if (groups := _groups(cases, place)) and len(factor.titles) > 1
    }
    contrasts = [
        (place, gap) for place, groups in by_factor.items() for gap in _gaps(list(groups.values()))
    ]
    looks = [analysis.experiment.number_of_looks] * len(contrasts)
    tests = adjusted(at_looks(wilcoxon([() if alike(gap) else gap for _, gap in contrasts]), looks))
    result = []
    for place, groups in by_factor.items():
        factor = analysis.conditions.factors[place]
        levels = tuple(
            _level(factor.titles[at], group, leaning, analysis.metric)
            for at, group in groups.items()
        )
        own = [
            (test, gap)
            for (where, gap), test in zip(contrasts, tests, strict=True)
            if where == place
        ]
        result.append(_interaction(factor.name, levels, own))
    return tuple(
        sorted(result, key=lambda interaction: (-interaction.established, -interaction.spread))
    )


def _interaction(
    name: str,
    levels: tuple[Level, ...],
    contrasts: Sequence[tuple[TestResult | None, Sequence[float]]],
) -> Interaction:
    seen = [(test, gap) for test, gap in contrasts if any(gap) and _is_shown(test, gap)]
    shown = [(test, gap) for test, gap in seen if _matters(gap)]
    tests = [test for test, _ in shown or contrasts if test]
    return Interaction(
        factor=name,
        levels=levels,
        test=min(tests, key=lambda test: test.adjusted, default=None),
        seen=bool(seen),
        established=bool(shown) and any(map(_is_notable, levels)),
    )


def _matters(gap: Sequence[float]) -> bool:
    return abs(statistics.fmean(gap)) > math.log1p(NEGLIGIBLE)


def _is_notable(level: Level) -> bool:
    return abs(level.relative) >= NEGLIGIBLE


def _is_shown(test: TestResult | None, gap: Sequence[float]) -> bool:
    """What is the same in every repetition needs no test."""
    return alike(gap) if test is None else test.significant


def _groups(cases: Sequence[Case], place: int) -> dict[int, list[Case]]:
    """Cases by their level of a factor; empty if the levels do not stand in the same cells otherwise."""
    groups: dict[int, list[Case]] = defaultdict(list)
    for cell, comparison in cases:
        groups[cell.levels[place]].append((cell, comparison))
    others = {
        level: sorted((*cell.levels[:place], *cell.levels[place + 1 :]) for cell, _ in group)
        for level, group in groups.items()
    }
    first, *rest = others.values()
    return (
        dict(sorted(groups.items())) if rest and all(numbers == first for numbers in rest) else {}
    )


def _gaps(groups: Sequence[Sequence[Case]]) -> Iterator[list[float]]:
    """For two levels at a time, how far apart they are in each repetition."""
    chosen = groups if len(groups) <= _MOST_LEVELS else (groups[0], groups[-1])
    means = [means_by_seed(group) for group in chosen]
    for first, other in combinations(means, 2):
        seeds = [seed for seed in first if seed in other]
        if len(seeds) > 1:
            yield [other[seed] - first[seed] for seed in seeds]


def _level(title: str, group: Sequence[Case], leaning: Verdict, metric: Metric) -> Level:
    same = sum(comparison.matters and comparison.verdict is leaning for _, comparison in group)
    relative = math.expm1(centre(group))
    return Level(title, relative, direction(relative, metric), same)
