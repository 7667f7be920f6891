"""A study's comparisons taken together: how often they came out how, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison
from headway.analysis.contest import Pairing
from headway.analysis.verdict import Basis, Verdict


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
class Overview:
    """One contender against another over all cells.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        tally: outcomes over all cells.
        faster_by: least and greatest relative difference where it was faster.
        slower_by: least and greatest relative difference where it was slower.
    """

    contender: str
    against: str
    tally: OutcomeTally
    faster_by: tuple[float, float] | None
    slower_by: tuple[float, float] | None


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


def _tally(cases: Sequence[_Case]) -> OutcomeTally:
    counts = Counter(case.outcome for case in cases)
    return OutcomeTally(
        tuple(
            (comparison_outcome, counts[comparison_outcome])
            for comparison_outcome in ComparisonOutcome
            if counts[comparison_outcome]
        )
    )


def _range(cases: Sequence[_Case], wanted: ComparisonOutcome) -> tuple[float, float] | None:
    values = [
        case.comparison.relative
        for case in cases
        if case.outcome is wanted and case.comparison.relative is not None
    ]
    return (min(values, key=abs), max(values, key=abs)) if values else None
