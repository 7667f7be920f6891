"""A partition of a comparison's cells by how it comes out: as few parts as it takes, by one factor or two.

A part is told in a clause, by the range of its cells' differences. So parts are chosen as a description is: each
costs something, and so does what its cells do not share, in bits (Rissanen 1978): their outcomes, and how far their
differences lie apart beside what is known of each. Neighbouring levels that are alike are one part.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import permutations

from headway.analysis.analysis import Analysis
from headway.analysis.compare import Comparison
from headway.analysis.conditions import Factor
from headway.analysis.contest import Pairing
from headway.analysis.difference import NEGLIGIBLE
from headway.analysis.means import Case
from headway.analysis.verdict import Basis, Verdict

_PART_BITS = 6.0
"""What a part costs: a clause more to read."""
_OPPOSITE_BITS = 12.0
"""What a part costs beyond that if its cells contradict each other."""
_MOST_LEVELS = 8
"""Levels without an order are a list to read; of more nothing is told by them."""
_MOST_PAIRS_OF_LEVELS = 60


class Leaning(StrEnum):
    """How a cell came out, as far as parts are concerned."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """No difference that matters is shown."""
    BETTER_UNTESTED = "better, in too few runs"
    WORSE_UNTESTED = "worse, in too few runs"
    BOTH_UNTESTED = "now better, now worse, in too few runs"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True)
class Restriction:
    """Some levels of a factor: of one with an order, neighbours.

    Attributes:
        factor: the factor.
        levels: indices of the levels, in order.
    """

    factor: Factor
    levels: tuple[int, ...]


@dataclass(frozen=True)
class AnswerPart:
    """Cells of a comparison that are told together.

    Attributes:
        where: what they have in common, the outer first; nothing if they are all cells.
        cases: the cells, with the comparison.
    """

    where: tuple[Restriction, ...]
    cases: tuple[Case, ...]

    def of(self, *leanings: Leaning) -> tuple[Case, ...]:
        """Those that came out so."""
        return tuple(case for case in self.cases if leaning(case[1]) in leanings)


def leaning(comparison: Comparison) -> Leaning:
    """How a comparison came out."""
    better = comparison.leaning is Verdict.FASTER
    if comparison.verdict is Verdict.INCOMPARABLE:
        return Leaning.INCOMPARABLE
    if comparison.basis is Basis.TOO_FEW and not comparison.is_one_way:
        return Leaning.BOTH_UNTESTED
    if comparison.basis is Basis.TOO_FEW and comparison.leaning is not Verdict.EQUAL:
        return Leaning.BETTER_UNTESTED if better else Leaning.WORSE_UNTESTED
    if not comparison.matters:
        return Leaning.SAME
    return Leaning.BETTER if better else Leaning.WORSE


def dividing(analysis: Analysis, pairing: Pairing) -> frozenset[str]:
    """Names of the factors by which a comparison is in parts."""
    answer_parts = parts(analysis, pairing)
    return frozenset(restriction.factor.name for part in answer_parts for restriction in part.where)


@lru_cache(maxsize=64)
def parts(analysis: Analysis, pairing: Pairing) -> tuple[AnswerPart, ...]:
    """The parts of a comparison, in the order of their levels; none if it was made in no cell."""
    cases = [
        _Met.of((cell, comparison))
        for cell in analysis.cells
        if (comparison := cell.comparison(pairing))
    ]
    if not cases:
        return ()
    factors = analysis.conditions.factors
    able = [place for place, factor in enumerate(factors) if _is_fit(factor)]
    ways: list[tuple[int, ...]] = [(), *((place,) for place in able)]
    ways += [
        pair
        for pair in permutations(able, 2)
        if len(factors[pair[0]].levels) * len(factors[pair[1]].levels) <= _MOST_PAIRS_OF_LEVELS
    ]
    # Two ends of a range more to tell, each as exactly as so many cells let them be known (Schwarz 1978).
    part_bits = _PART_BITS + math.log2(len(cases))
    pairs = (_divided(cases, factors, way, part_bits) for way in ways)
    _, best = min(pairs, key=lambda entry: (round(entry[0], 6), len(entry[1])))
    return tuple(best)


def _is_fit(factor: Factor) -> bool:
    return len(factor.levels) > 1 and (
        factor.values is not None or len(factor.levels) <= _MOST_LEVELS
    )


@dataclass(frozen=True)
class _Met:
    """A cell, and what counts of its comparison: how it came out, its logarithm, and how exactly that is known."""

    case: Case
    kind: Leaning
    log: float
    known_to: float

    @classmethod
    def of(cls, case: Case) -> _Met:
        return cls(case, leaning(case[1]), _log(case[1]), _known_to(case[1]))

    @property
    def levels(self) -> tuple[int, ...]:
        return self.case[0].levels


_Division = tuple[float, list[AnswerPart]]
"""Cells in parts, and what these cost."""


def _divided(
    cases: Sequence[_Met], factors: Sequence[Factor], way: Sequence[int], part_bits: float
) -> _Division:
    """The cheapest parts by these factors, the outer one first."""
    if not way:
        return part_bits + _bits(cases), [AnswerPart((), tuple(met.case for met in cases))]
    place, *inner = way
    factor, levels = factors[place], _in_order(cases, factors[way[0]], place)

    def cost(first: int, last: int) -> _Division:
        chosen = tuple(sorted(levels[first:last]))
        inside = [case for case in cases if case.levels[place] in chosen]
        bits, answer_parts = _divided(inside, factors, inner, part_bits)
        if len(chosen) == len(levels):
            return bits, answer_parts
        own = Restriction(factor, chosen)
        return bits, [AnswerPart((own, *part.where), part.cases) for part in answer_parts]

    bits, result = _cheapest(len(levels), cost)
    first = {level: at for at, level in enumerate(levels if factor.values else sorted(levels))}
    return bits, sorted(result, key=lambda part: _at(part, factor, first))


def _at(part: AnswerPart, factor: Factor, places: dict[int, int]) -> int:
    own = [restriction for restriction in part.where[:1] if restriction.factor is factor]
    return min((places[level] for restriction in own for level in restriction.levels), default=0)


def _cheapest(count: int, cost: Callable[[int, int], _Division]) -> _Division:
    """The cheapest way to cut a row into pieces, each of neighbours."""
    best: list[_Division] = [(0.0, [])]
    for last in range(1, count + 1):
        ways = (_sum(best[first], cost(first, last)) for first in range(last))
        best.append(min(ways, key=lambda entry: (round(entry[0], 6), len(entry[1]))))
    return best[count]


def _sum(division: _Division, other: _Division) -> _Division:
    return division[0] + other[0], [*division[1], *other[1]]


def _in_order(cases: Sequence[_Met], factor: Factor, place: int) -> list[int]:
    """The levels that there are: numbers in their order, others by how the cells come out."""
    there = sorted({case.levels[place] for case in cases})
    if factor.values is not None:
        values = factor.values
        return sorted(there, key=lambda level: values[level])

    def middle(level: int) -> float:
        logs = [case.log for case in cases if case.levels[place] == level]
        return math.fsum(logs) / len(logs)

    return sorted(there, key=middle)


def _bits(cases: Sequence[_Met]) -> float:
    """What it takes to tell these cells as one part, beyond that there is one."""
    counts = Counter(case.kind for case in cases)
    outcomes = -math.fsum(count * math.log2(count / len(cases)) for count in counts.values())
    logs = [case.log for case in cases]
    apart = max(logs) - min(logs)
    spread = math.fsum(math.log2(1 + apart / case.known_to) for case in cases) if apart else 0.0
    opposite = counts[Leaning.BETTER] and counts[Leaning.WORSE]
    return outcomes + spread + (_OPPOSITE_BITS if opposite else 0.0)


def _log(comparison: Comparison) -> float:
    """The logarithm of the typical ratio, none farther than a factor of 20; what may be chance is none."""
    if leaning(comparison) in (Leaning.SAME, Leaning.BOTH_UNTESTED):
        return 0.0
    if comparison.relative is None:
        return math.log(20) * (comparison.difference.sign or 0)
    farthest = math.log(20)
    return max(-farthest, min(farthest, math.log1p(max(comparison.relative, -0.99))))


def _known_to(comparison: Comparison) -> float:
    """How exactly a difference is known, as a logarithm: half of its interval, and no less than 3 %."""
    interval = comparison.relative_interval
    if interval is None or interval.low <= -1 or math.isinf(interval.high):
        return math.log(20)
    return max(3 * NEGLIGIBLE, (math.log1p(interval.high) - math.log1p(interval.low)) / 2)
