"""A study's comparisons taken together: how often, by how much, and depending on what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns
from headway.analysis.compare import Comparison, Pairing
from headway.analysis.verdict import Basis, Verdict
from headway.errors import counted

_MOST_LEVELS = 6
"""A factor with more levels would make a list, not a sentence."""
_CLEAR_GAIN = 0.3
"""Share of the verdicts' entropy that a factor must explain to be named."""


class ComparisonOutcome(StrEnum):
    """A comparison's outcome for counting."""

    FASTER = "faster"
    SLOWER = "slower"
    IDENTICAL = "identical"
    EQUAL = "practically equal"
    UNDECIDED = "not significant"
    UNTESTED = "not tested"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True)
class OutcomeTally:
    """Outcomes of some cells; ``counts`` has every outcome that occurs."""

    counts: tuple[tuple[ComparisonOutcome, int], ...]

    @property
    def total(self) -> int:
        """Number of cells."""
        return sum(count for _, count in self.counts)

    def count(self, outcome: ComparisonOutcome) -> int:
        """Number of cells with this outcome."""
        return dict(self.counts).get(outcome, 0)


@dataclass(frozen=True)
class Dependence:
    """The factor that separates the outcomes best, with the tally at each of its levels.

    Attributes:
        factor: its name.
        alone: whether it is the study's only factor.
        by_level: title of each level and the tally there.
    """

    factor: str
    alone: bool
    by_level: tuple[tuple[str, OutcomeTally], ...]


@dataclass(frozen=True)
class Overview:
    """One contender against another over all cells.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        tally: outcomes over all cells.
        faster_by: least and greatest relative difference where it was faster.
        slower_by: least and greatest relative difference where it was slower.
        untested_faster: cells with too few runs for a test in which it was faster.
        dependence: what the outcome depends on; None if on nothing clearly.
        why_not: the most frequent reason why cells are not comparable; empty if all are.
    """

    contender: str
    against: str
    tally: OutcomeTally
    faster_by: tuple[float, float] | None
    slower_by: tuple[float, float] | None
    untested_faster: int
    dependence: Dependence | None
    why_not: str = ""


def overviews(analysis: Analysis) -> tuple[Overview, ...]:
    """An overview for everything that is compared and was run in at least one cell."""
    by_pairing: dict[Pairing, list[_Case]] = {pairing: [] for pairing in analysis.pairings}
    for cell, comparison in analysis.comparisons:
        by_pairing[comparison.pairing].append(_Case(cell, comparison, outcome(comparison)))
    return tuple(
        Overview(
            contender=pairing.contender,
            against=pairing.against,
            tally=_tally(cases),
            faster_by=_range(cases, ComparisonOutcome.FASTER),
            slower_by=_range(cases, ComparisonOutcome.SLOWER),
            untested_faster=sum(_untested_faster(case) for case in cases),
            dependence=_dependence(analysis, cases),
            why_not=_why_not(cases),
        )
        for pairing, cases in by_pairing.items()
        if cases
    )


def outcome(comparison: Comparison) -> ComparisonOutcome:
    """The outcome that a comparison counts as."""
    if comparison.verdict is Verdict.INCOMPARABLE:
        return ComparisonOutcome.INCOMPARABLE
    if comparison.identical:
        return ComparisonOutcome.IDENTICAL
    if comparison.basis is Basis.TOO_FEW:
        return ComparisonOutcome.UNTESTED
    if comparison.verdict is Verdict.UNDECIDED:
        return ComparisonOutcome.UNDECIDED
    if comparison.negligible:
        return ComparisonOutcome.EQUAL
    return ComparisonOutcome(comparison.verdict.value)


@dataclass(frozen=True)
class _Case:
    """A comparison in a cell, and its outcome."""

    cell: Cell
    comparison: Comparison
    outcome: ComparisonOutcome


def _why_not(cases: Sequence[_Case]) -> str:
    """Who finished nothing in the cells that are not comparable, and the reason of most."""
    sides = [
        side
        for case in cases
        if case.outcome is ComparisonOutcome.INCOMPARABLE
        for side in case.cell.sides
        if side.contender in (case.comparison.contender, case.comparison.against)
        and side.sample is None
    ]
    told = Counter(
        f"{side.contender} {_ended(side)}{': ' if side.reason else ''}{side.reason}"
        for side in sides
    )
    return told.most_common(1)[0][0] if told else ""


def _ended(side: ContenderRuns) -> str:
    return f"finished none of {counted(side.runs, 'run')}" if side.failures else "measured nothing"


def _untested_faster(case: _Case) -> bool:
    return case.outcome is ComparisonOutcome.UNTESTED and case.comparison.leaning is Verdict.FASTER


def _tally(cases: Sequence[_Case]) -> OutcomeTally:
    counts = Counter(case.outcome for case in cases)
    return OutcomeTally(tuple((one, counts[one]) for one in ComparisonOutcome if counts[one]))


def _range(cases: Sequence[_Case], wanted: ComparisonOutcome) -> tuple[float, float] | None:
    found = [
        case.comparison.relative
        for case in cases
        if case.outcome is wanted and case.comparison.relative is not None
    ]
    return (min(found, key=abs), max(found, key=abs)) if found else None


def _dependence(analysis: Analysis, cases: Sequence[_Case]) -> Dependence | None:
    """The factor with the greatest information gain about the outcome (Quinlan 1986)."""
    whole = _entropy(cases)
    best, best_left = None, whole * (1 - _CLEAR_GAIN)
    for place, factor in enumerate(analysis.conditions.factors):
        if whole == 0 or len(factor.levels) > _MOST_LEVELS:
            continue
        groups = _by_level(cases, place, len(factor.levels))
        left = sum(_entropy(group) * len(group) for group in groups) / len(cases)
        if left < best_left:
            best, best_left = place, left
    if best is None:
        return None
    factor = analysis.conditions.factors[best]
    tallies = (_tally(group) for group in _by_level(cases, best, len(factor.levels)))
    alone = len(analysis.conditions.factors) == 1
    return Dependence(factor.name, alone, tuple(zip(factor.titles, tallies, strict=True)))


def _by_level(cases: Sequence[_Case], place: int, levels: int) -> list[list[_Case]]:
    groups: list[list[_Case]] = [[] for _ in range(levels)]
    for case in cases:
        groups[case.cell.levels[place]].append(case)
    return groups


def _entropy(cases: Sequence[_Case]) -> float:
    """Entropy, in bits, of the outcomes of these cases."""
    shares = [count / len(cases) for _, count in _tally(cases).counts]
    return -sum(share * math.log2(share) for share in shares)
