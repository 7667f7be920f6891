"""One contender against another over all cells of an experiment: one effect, one test.

Repetitions have the same seeds in all cells, hence partly the same luck. So the cells of a repetition are one
observation: the mean over cells of the logarithms of the ratios. These means are then what the pairs of a
cell are, and treated alike: each cell counts the same, and what differs between cells is not chance.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import lru_cache

from headway.analysis.analysis import Analysis
from headway.analysis.contest import Pairing
from headway.analysis.difference import Difference, of_pairs
from headway.analysis.interactions import Interaction, Level, interactions
from headway.analysis.intervals import level_at_looks
from headway.analysis.means import Case, alike, means_by_seed, of_all
from headway.analysis.significance import TestResult, at_looks, bonferroni, wilcoxon
from headway.analysis.verdict import Verdict, direction
from headway.statistics.interval import LEVEL
from headway.statistics.pairs import PAIRED_ALPHA


@dataclass(frozen=True)
class Whole:
    """A contender against another over all cells in which both can be compared.

    Attributes:
        pairing: what is compared.
        difference: in the mean over cells, each repetition's cells one observation.
        leaning: which way it is.
        test: of these, adjusted for the number of such comparisons; None if nothing varies.
        cells: number of cells that it is of.
        pairs: pairs of runs in the cells, fewest and most.
        same: whether the cells came out alike.
        interactions: factors that the difference may depend on, those first that it depends on most.
    """

    pairing: Pairing
    difference: Difference
    leaning: Verdict
    test: TestResult | None
    cells: int
    pairs: tuple[int, int]
    same: bool
    interactions: tuple[Interaction, ...]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Levels of the factor that the difference depends on most; empty if it is shown to depend on none."""
        first = next(iter(self.interactions), None)
        return first.levels if first and first.established else ()

    @property
    def alike(self) -> bool:
        """Whether a mean over the cells says something: they came out alike, and nothing shows a dependence.

        Of so few repetitions that no test could show one, nobody knows.
        """
        tested = self.certain or (self.test is not None and self.test.can_decide)
        return (
            tested
            and self.same
            and not any(interaction.established for interaction in self.interactions)
        )

    @property
    def certain(self) -> bool:
        """Whether nothing varied between repetitions, so that nothing is left to a test."""
        interval = self.difference.interval
        return interval is not None and interval.low == interval.high

    @property
    def verdict(self) -> Verdict:
        """What can be said over all cells."""
        if self.certain or (self.test is not None and self.test.significant):
            return self.leaning
        return Verdict.EQUAL if self.difference.equivalent else Verdict.UNDECIDED


@lru_cache(maxsize=32)
def wholes(analysis: Analysis) -> tuple[Whole, ...]:
    """Everything that is compared in two cells at least, over all of these cells.

    The tests of all, and their intervals, are adjusted for their number by Bonferroni.
    """
    result = [_mean(analysis, pairing) for pairing in analysis.pairings]
    means = [mean for mean in result if mean]
    looks = analysis.experiment.number_of_looks
    tests = wilcoxon([() if alike(mean.logs) else mean.logs for mean in means])
    tests = bonferroni(at_looks(tests, [looks] * len(tests)))
    return tuple(_whole(analysis, mean, test) for mean, test in zip(means, tests, strict=True))


@dataclass(frozen=True)
class _Mean:
    """What the cells of a comparison tell together: a logarithm for every repetition."""

    pairing: Pairing
    cases: tuple[Case, ...]
    logs: tuple[float, ...]


def _mean(analysis: Analysis, pairing: Pairing) -> _Mean | None:
    cases = tuple(
        (cell, result)
        for cell in analysis.cells
        if (result := cell.comparison(pairing))
        and result.relative is not None
        and result.relative > -1
    )
    if len(cases) < 2 or not all(comparison.is_paired for _, comparison in cases):
        return None
    if analysis.experiment.looks:
        ended = [analysis.runs.filter(cell=cell.name)["seed"].to_list() for cell, _ in cases]
        cases = of_all(cases, min(max(seeds) for seeds in ended))
    if not cases:
        return None
    logs = tuple(means_by_seed(cases).values())
    return _Mean(pairing, cases, logs) if len(logs) > 1 else None


def _whole(analysis: Analysis, mean: _Mean, test: TestResult | None) -> Whole:
    logs = mean.logs
    level = 1 - PAIRED_ALPHA / test.family if test else LEVEL
    level = level_at_looks(level, analysis.experiment.number_of_looks)
    same = [statistics.fmean(logs)] * len(logs)
    difference = of_pairs(same if alike(logs) else logs, level=level)
    leaning = direction(difference.sign or 0, analysis.metric)
    counts = [comparison.pairs.n for _, comparison in mean.cases]
    return Whole(
        pairing=mean.pairing,
        difference=difference,
        leaning=leaning,
        test=test,
        cells=len(mean.cases),
        pairs=(min(counts), max(counts)),
        same=len({(comparison.verdict, comparison.matters) for _, comparison in mean.cases}) == 1,
        interactions=interactions(analysis, mean.cases, leaning),
    )
