"""A study's comparisons taken together: how often, by how much, and depending on what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison, Pairing
from headway.analysis.verdict import Basis, Verdict

_MOST_LEVELS = 6
"""A factor with more levels would make a list, not a sentence."""
_CLEAR_GAIN = 0.3
"""Share of the verdicts' entropy that a factor must explain to be named."""


class Outcome(StrEnum):
    """A comparison's outcome for counting."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUAL = "practically equal"
    UNDECIDED = "not significant"
    UNTESTED = "not tested"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True)
class Tally:
    """Outcomes of some cells; ``counts`` has every outcome that occurs."""

    counts: tuple[tuple[Outcome, int], ...]

    @property
    def total(self) -> int:
        """Number of cells."""
        return sum(count for _, count in self.counts)

    def count(self, outcome: Outcome) -> int:
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
    by_level: tuple[tuple[str, Tally], ...]


@dataclass(frozen=True)
class Overview:
    """One contender against another over all cells.

    Attributes:
        contender: the contender.
        against: what it is compared with.
        tally: outcomes over all cells.
        faster_by: least and greatest relative difference where it was faster.
        slower_by: least and greatest relative difference where it was slower.
        untested_faster: cells with a single run a side, too few for a test, where it was faster.
        dependence: what the outcome depends on; None if on nothing clearly.
    """

    contender: str
    against: str
    tally: Tally
    faster_by: tuple[float, float] | None
    slower_by: tuple[float, float] | None
    untested_faster: int
    dependence: Dependence | None


def overviews(analysis: Analysis) -> tuple[Overview, ...]:
    """An overview for everything that is compared."""
    return tuple(_overview(analysis, pairing) for pairing in analysis.pairings)


def outcome(comparison: Comparison) -> Outcome:
    """The outcome that a comparison counts as."""
    if comparison.verdict is Verdict.INCOMPARABLE:
        return Outcome.INCOMPARABLE
    if comparison.basis is Basis.TOO_FEW:
        return Outcome.UNTESTED
    if comparison.verdict is Verdict.UNDECIDED:
        return Outcome.UNDECIDED
    if comparison.negligible:
        return Outcome.EQUAL
    return Outcome(comparison.verdict.value)


def _overview(analysis: Analysis, pairing: Pairing) -> Overview:
    cells = [cell for cell in analysis.cells if cell.comparison(pairing)]
    return Overview(
        contender=pairing.contender,
        against=pairing.against,
        tally=_tally(cells, pairing),
        faster_by=_range(cells, pairing, Outcome.FASTER),
        slower_by=_range(cells, pairing, Outcome.SLOWER),
        untested_faster=sum(_untested_faster(cell, pairing) for cell in cells),
        dependence=_dependence(analysis, cells, pairing),
    )


def _outcome(cell: Cell, pairing: Pairing) -> Outcome:
    comparison = cell.comparison(pairing)
    return outcome(comparison) if comparison else Outcome.INCOMPARABLE


def _untested_faster(cell: Cell, pairing: Pairing) -> bool:
    comparison = cell.comparison(pairing)
    return (
        comparison is not None
        and outcome(comparison) is Outcome.UNTESTED
        and comparison.leaning is Verdict.FASTER
    )


def _tally(cells: Sequence[Cell], pairing: Pairing) -> Tally:
    counts = Counter(_outcome(cell, pairing) for cell in cells)
    return Tally(tuple((one, counts[one]) for one in Outcome if counts[one]))


def _range(cells: Sequence[Cell], pairing: Pairing, wanted: Outcome) -> tuple[float, float] | None:
    found = [
        comparison.relative
        for cell in cells
        if (comparison := cell.comparison(pairing))
        and comparison.relative is not None
        and outcome(comparison) is wanted
    ]
    return (min(found, key=abs), max(found, key=abs)) if found else None


def _dependence(analysis: Analysis, cells: Sequence[Cell], pairing: Pairing) -> Dependence | None:
    """The factor with the greatest information gain about the outcome (Quinlan 1986)."""
    whole = _entropy(cells, pairing)
    best, best_left = None, whole * (1 - _CLEAR_GAIN)
    for place, factor in enumerate(analysis.conditions.factors):
        groups = _by_level(cells, place, len(factor.levels))
        left = sum(_entropy(group, pairing) * len(group) for group in groups) / max(1, len(cells))
        if whole > 0 and len(groups) <= _MOST_LEVELS and left < best_left:
            best, best_left = place, left
    if best is None:
        return None
    factor = analysis.conditions.factors[best]
    tallies = (_tally(group, pairing) for group in _by_level(cells, best, len(factor.levels)))
    alone = len(analysis.conditions.factors) == 1
    return Dependence(factor.name, alone, tuple(zip(factor.titles, tallies, strict=True)))


def _by_level(cells: Sequence[Cell], place: int, levels: int) -> list[list[Cell]]:
    return [[cell for cell in cells if cell.levels[place] == level] for level in range(levels)]


def _entropy(cells: Sequence[Cell], pairing: Pairing) -> float:
    """Entropy, in bits, of the outcomes of these cells."""
    shares = [count / len(cells) for _, count in _tally(cells, pairing).counts]
    return -sum(share * math.log2(share) for share in shares)
