"""Failures: where, with which seeds and why; and what would be said if those runs were the slowest of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns, Failure
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.numbers import listed
from headway.analysis.partition import Leaning, Restriction, leaning
from headway.analysis.sample import Measurements
from headway.analysis.where import words
from headway.errors import counted, kinds_of

_MOST_SEEDS = 4


@dataclass(frozen=True)
class ContenderFailures:
    """The runs of a contender that did not end well, in all cells.

    Attributes:
        contender: the contender.
        found: for each cell that has any, what it did there.
        each: the failures.
    """

    contender: str
    found: tuple[tuple[Cell, ContenderRuns], ...]
    each: tuple[Failure, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({one.seed for one in self.each}))


def failures(analysis: Analysis) -> tuple[ContenderFailures, ...]:
    """The contenders that failed at all, but for runs that met a fault, as the study asks."""
    found = (_failures(analysis, name, lambda one: not one.fault) for name in analysis.contenders)
    return tuple(one for one in found if one.each)


def _failures(
    analysis: Analysis, contender: str, is_told: Callable[[Failure], bool]
) -> ContenderFailures:
    sides = [(cell, side) for cell in analysis.cells if (side := cell.side(contender))]
    found = [(cell, side) for cell, side in sides if any(map(is_told, side.ended_badly))]
    each = [one for _, side in found for one in side.ended_badly if is_told(one)]
    return ContenderFailures(contender, tuple(found), tuple(each))


def _not_survived(analysis: Analysis) -> Iterator[str]:
    """``h3 did not survive lose down 3 (2 of 2 runs with it): curl exited with 55.``"""
    for name in analysis.contenders:
        every = _failures(analysis, name, lambda one: bool(one.fault))
        for fault in dict.fromkeys(one.fault for one in every.each):
            own = _failures(analysis, name, partial(_met, fault))
            runs = sum(side.runs for _, side in own.found)
            with_it = f"{len(own.each)} of {counted(runs, 'run')} with it"
            yield f"{name} does not survive the fault {fault} ({with_it}){_why(own)}."


@lru_cache(maxsize=32)
def as_worst(analysis: Analysis) -> tuple[tuple[Comparison, Comparison], ...]:
    """The comparisons in which runs failed, and as they were if those were worse than any that finished.

    That is the rule for runs that timed out; of those that failed nobody knows how long they would have taken,
    and so both are told.
    """
    contests = [
        Contest(one.pairing, _measured(cell, one.contender), _measured(cell, one.against))
        for cell, one in analysis.comparisons
    ]
    compared = compare(contests, analysis.metric)
    return tuple(
        (one, other)
        for (cell, one), other in zip(analysis.comparisons, compared, strict=True)
        if _has_failed(cell, one.contender) or _has_failed(cell, one.against)
    )


def _has_failed(cell: Cell, contender: str) -> bool:
    side = cell.side(contender)
    return side is not None and side.failed > 0


def _measured(cell: Cell, contender: str) -> Measurements:
    side = cell.side(contender)
    assert side
    lost = ((one.seed, one.rep) for one in side.ended_badly)
    return replace(side.measured, given_up=tuple(sorted({*side.measured.given_up, *lost})))


def _met(fault: str, one: Failure) -> bool:
    return one.fault == fault


def failure_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Who failed, and what that does to the comparison; nothing if nobody did."""
    told = [*_not_survived(analysis), *(_who(analysis, failure) for failure in failures(analysis))]
    if as_worst(analysis):
        told.append(_what_it_does(analysis))
    return tuple(told)


def _who(analysis: Analysis, one: ContenderFailures) -> str:
    """``h3 failed in 6 of 120 runs, all with 2 % loss and seed 8 (1 of 10 runs there): curl exited with 55.``"""
    runs = sum(side.runs for cell in analysis.cells if (side := cell.side(one.contender)))
    given_up = all(failure.timed_out for failure in one.each)
    verb = "did not finish" if not given_up and any(f.timed_out for f in one.each) else "failed"
    verb = "timed out" if given_up else verb
    where = " ".join(_common(analysis, one))
    where += " and " if where.startswith("with ") else ", with " if where else "with "
    there = _runs_there(analysis, one)
    share = (
        f" ({len(one.each)} of {counted(there, 'run')} there)"
        if len(one.found) < len(analysis.cells)
        else ""
    )
    all_of = "all " if len(one.each) > 1 else ""
    return f"{one.contender} {verb} in {len(one.each)} of {counted(runs, 'run')}, {all_of}{where}{_seeds(one)}{share}{_why(one)}."


def failed_runs(analysis: Analysis, cells: Sequence[Cell], contender: str) -> str:
    """``6 of 60 runs of h3 failed (6 of 6 with seed 8)``, in these cells; empty if none did.

    Seeds are named where failures have them in common.
    """
    sides = [(cell, side) for cell in cells if (side := cell.side(contender))]
    each = tuple(one for _, side in sides for one in side.ended_badly)
    count = sum(side.failures for _, side in sides)
    if not count:
        return ""
    runs = sum(side.runs for _, side in sides)
    every = ContenderFailures(contender, tuple(sides), each)
    there = _runs_there(analysis, every)
    is_of_seeds = len(every.seeds) < count and there < runs
    where = f" ({count} of {there} with {_seeds(every)})" if is_of_seeds else ""
    return f"{count} of {counted(runs, 'run')} of {contender} failed{where}"


def _runs_there(analysis: Analysis, one: ContenderFailures) -> int:
    """How many runs the contender has in these cells; with the seeds of its failures, if these are named."""
    cells = [cell.name for cell, _ in one.found]
    own = analysis.runs.filter(pl.col("contender") == one.contender, pl.col("cell").is_in(cells))
    if len(one.seeds) > _MOST_SEEDS:
        return own.height
    return own.filter(pl.col("seed").is_in(one.seeds)).height


def _common(analysis: Analysis, one: ContenderFailures) -> list[str]:
    """The levels that all failures have, where that says anything."""
    told = []
    for place, factor in enumerate(analysis.conditions.factors):
        levels = tuple(sorted({cell.levels[place] for cell, _ in one.found}))
        if len(levels) < len({cell.levels[place] for cell in analysis.cells}):
            told.append(words(Restriction(factor, levels)))
    return told


def _seeds(one: ContenderFailures) -> str:
    if len(one.seeds) > _MOST_SEEDS:
        return f"{len(one.seeds)} different seeds"
    return f"seed{'s' if len(one.seeds) > 1 else ''} {listed(list(map(str, one.seeds)))}"


def _why(one: ContenderFailures) -> str:
    """The reason of most, of how many with other numbers, and how many others there are."""
    told = list(filter(None, map(_reason, one.each)))
    reasons = kinds_of(told)
    if not reasons:
        return ""
    (first, count), *others = reasons
    unlike = count - told.count(first)
    likewise = (
        f" (in {told.count(first)} of them; in {unlike} with other numbers)" if unlike else ""
    )
    more = f" (so {count} of them; {counted(len(others), 'other reason')})" if others else ""
    also = likewise + more
    if any(failure.came_to for failure in one.each):
        return f". {first[:1].upper()}{first[1:]}{also}"
    return f": {first}{also}"


def _reason(failure: Failure) -> str:
    """How far a run came, and what its client says of that."""
    return f"{failure.came_to} ({failure.reason})" if failure.came_to else failure.reason


def _what_it_does(analysis: Analysis) -> str:
    """Whether it matters that failed runs are left out."""
    rule = "Failed runs are left out of the comparison together with their counterparts"
    by_pairing: dict[Pairing, list[tuple[Comparison, Comparison]]] = {}
    for one, other in as_worst(analysis):
        by_pairing.setdefault(one.pairing, []).append((one, other))
    told = [said for pairing, found in by_pairing.items() for said in _turned(pairing, found)]
    if not told:
        return f"{rule}; counted as slower than any that finished, they would change none of these statements."
    return f"{rule}; counted as slower than any that finished, {listed(told)}."


def _turned(pairing: Pairing, found: Sequence[tuple[Comparison, Comparison]]) -> Iterator[str]:
    """``h3 would be shown to be faster than h2 in 0 instead of 5 of the 6 conditions concerned``."""
    for kind, word in ((Leaning.BETTER, "faster"), (Leaning.WORSE, "slower")):
        before, after = (sum(leaning(pair[place]) is kind for pair in found) for place in (0, 1))
        if before != after:
            of = f"the {len(found)} conditions" if len(found) > 1 else "the 1 condition"
            yield (
                f"{pairing.contender} would be shown to be {word} than {pairing.against} in {after} instead of "
                f"{before} of {of} concerned"
            )
