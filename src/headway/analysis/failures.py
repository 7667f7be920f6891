"""Failures: where, with which seeds and why; and what would be said if those runs were the slowest of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell, ContenderRuns, Failure
from headway.analysis.compare import Comparison, compare
from headway.analysis.condition_phrases import words
from headway.analysis.contest import Contest, Pairing
from headway.analysis.numbers import listed
from headway.analysis.partition import Leaning, Restriction, leaning
from headway.analysis.sample import Measurements
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
        return tuple(sorted({failure.seed for failure in self.each}))


def failures(analysis: Analysis) -> tuple[ContenderFailures, ...]:
    """The contenders that failed at all, but for runs that met a fault, as the study asks."""
    all_contender_failures = (
        _failures(analysis, name, lambda failure: not failure.fault) for name in analysis.contenders
    )
    return tuple(
        contender_failures
        for contender_failures in all_contender_failures
        if contender_failures.each
    )


def _failures(
    analysis: Analysis, contender: str, is_told: Callable[[Failure], bool]
) -> ContenderFailures:
    sides = [(cell, side) for cell in analysis.cells if (side := cell.side(contender))]
    pairs = [(cell, side) for cell, side in sides if any(map(is_told, side.ended_badly))]
    each = [failure for _, side in pairs for failure in side.ended_badly if is_told(failure)]
    return ContenderFailures(contender, tuple(pairs), tuple(each))


def _not_survived(analysis: Analysis) -> Iterator[str]:
    """``h3 did not survive lose down 3 (2 of 2 runs with it): curl exited with 55.``"""
    for name in analysis.contenders:
        every = _failures(analysis, name, lambda failure: bool(failure.fault))
        for fault in dict.fromkeys(failure.fault for failure in every.each):
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
        Contest(
            comparison.pairing,
            _measured(cell, comparison.contender),
            _measured(cell, comparison.against),
        )
        for cell, comparison in analysis.comparisons
    ]
    compared = compare(contests, analysis.metric)
    return tuple(
        (first, other)
        for (cell, first), other in zip(analysis.comparisons, compared, strict=True)
        if _has_failed(cell, first.contender) or _has_failed(cell, first.against)
    )


def _has_failed(cell: Cell, contender: str) -> bool:
    side = cell.side(contender)
    return side is not None and side.failed > 0


def _measured(cell: Cell, contender: str) -> Measurements:
    side = cell.side(contender)
    assert side
    lost = ((failure.seed, failure.rep) for failure in side.ended_badly)
    return replace(side.measured, given_up=tuple(sorted({*side.measured.given_up, *lost})))


def _met(fault: str, failure: Failure) -> bool:
    return failure.fault == fault


def failure_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Who failed, and what that does to the comparison; nothing if nobody did."""
    texts = [*_not_survived(analysis), *(_who(analysis, failure) for failure in failures(analysis))]
    if as_worst(analysis):
        texts.append(_what_it_does(analysis))
    return tuple(texts)


def _who(analysis: Analysis, contender_failures: ContenderFailures) -> str:
    """``h3 failed in 6 of 120 runs, all with 2 % loss and seed 8 (1 of 10 runs there): curl exited with 55.``"""
    runs = sum(
        side.runs for cell in analysis.cells if (side := cell.side(contender_failures.contender))
    )
    given_up = all(failure.timed_out for failure in contender_failures.each)
    verb = (
        "did not finish"
        if not given_up and any(f.timed_out for f in contender_failures.each)
        else "failed"
    )
    verb = "timed out" if given_up else verb
    where = " ".join(_common(analysis, contender_failures))
    where += " and " if where.startswith("with ") else ", with " if where else "with "
    there = _runs_there(analysis, contender_failures)
    share = (
        f" ({len(contender_failures.each)} of {counted(there, 'run')} there)"
        if len(contender_failures.found) < len(analysis.cells)
        else ""
    )
    all_of = "all " if len(contender_failures.each) > 1 else ""
    return f"{contender_failures.contender} {verb} in {len(contender_failures.each)} of {counted(runs, 'run')}, {all_of}{where}{_seeds(contender_failures)}{share}{_why(contender_failures)}."


def failed_runs(analysis: Analysis, cells: Sequence[Cell], contender: str) -> str:
    """``6 of 60 runs of h3 failed (6 of 6 with seed 8)``, in these cells; empty if none did.

    Seeds are named where failures have them in common.
    """
    sides = [(cell, side) for cell in cells if (side := cell.side(contender))]
    each = tuple(failure for _, side in sides for failure in side.ended_badly)
    count = sum(side.failures for _, side in sides)
    if not count:
        return ""
    runs = sum(side.runs for _, side in sides)
    every = ContenderFailures(contender, tuple(sides), each)
    there = _runs_there(analysis, every)
    is_of_seeds = len(every.seeds) < count and there < runs
    where = f" ({count} of {there} with {_seeds(every)})" if is_of_seeds else ""
    return f"{count} of {counted(runs, 'run')} of {contender} failed{where}"


def _runs_there(analysis: Analysis, contender_failures: ContenderFailures) -> int:
    """How many runs the contender has in these cells; with the seeds of its failures, if these are named."""
    cells = [cell.name for cell, _ in contender_failures.found]
    own = analysis.runs.filter(
        pl.col("contender") == contender_failures.contender, pl.col("cell").is_in(cells)
    )
    if len(contender_failures.seeds) > _MOST_SEEDS:
        return own.height
    return own.filter(pl.col("seed").is_in(contender_failures.seeds)).height


def _common(analysis: Analysis, contender_failures: ContenderFailures) -> list[str]:
    """The levels that all failures have, where that says anything."""
    texts = []
    for place, factor in enumerate(analysis.conditions.factors):
        levels = tuple(sorted({cell.levels[place] for cell, _ in contender_failures.found}))
        if len(levels) < len({cell.levels[place] for cell in analysis.cells}):
            texts.append(words(Restriction(factor, levels)))
    return texts


def _seeds(contender_failures: ContenderFailures) -> str:
    if len(contender_failures.seeds) > _MOST_SEEDS:
        return f"{len(contender_failures.seeds)} different seeds"
    return f"seed{'s' if len(contender_failures.seeds) > 1 else ''} {listed(list(map(str, contender_failures.seeds)))}"


def _why(contender_failures: ContenderFailures) -> str:
    """The reason of most, of how many with other numbers, and how many others there are."""
    texts = list(filter(None, map(_reason, contender_failures.each)))
    reasons = kinds_of(texts)
    if not reasons:
        return ""
    (first, count), *others = reasons
    unlike = count - texts.count(first)
    likewise = (
        f" (in {texts.count(first)} of them; in {unlike} with other numbers)" if unlike else ""
    )
    more = f" (so {count} of them; {counted(len(others), 'other reason')})" if others else ""
    also = likewise + more
    if any(failure.came_to for failure in contender_failures.each):
        return f". {first[:1].upper()}{first[1:]}{also}"
    return f": {first}{also}"


def _reason(failure: Failure) -> str:
    """How far a run came, and what its client says of that."""
    return f"{failure.came_to} ({failure.reason})" if failure.came_to else failure.reason


def _what_it_does(analysis: Analysis) -> str:
    """Whether it matters that failed runs are left out."""
    rule = "Failed runs are left out of the comparison together with their counterparts"
    by_pairing: dict[Pairing, list[tuple[Comparison, Comparison]]] = {}
    for first, other in as_worst(analysis):
        by_pairing.setdefault(first.pairing, []).append((first, other))
    texts = [text for pairing, pairs in by_pairing.items() for text in _turned(pairing, pairs)]
    if not texts:
        return f"{rule}; counted as slower than any that finished, they would change none of these statements."
    return f"{rule}; counted as slower than any that finished, {listed(texts)}."


def _turned(pairing: Pairing, pairs: Sequence[tuple[Comparison, Comparison]]) -> Iterator[str]:
    """``h3 would be shown to be faster than h2 in 0 instead of 5 of the 6 conditions concerned``."""
    for kind, word in ((Leaning.BETTER, "faster"), (Leaning.WORSE, "slower")):
        before, after = (sum(leaning(pair[place]) is kind for pair in pairs) for place in (0, 1))
        if before != after:
            of = f"the {len(pairs)} conditions" if len(pairs) > 1 else "the 1 condition"
            yield (
                f"{pairing.contender} would be shown to be {word} than {pairing.against} in {after} instead of "
                f"{before} of {of} concerned"
            )
