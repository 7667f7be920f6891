"""The leader of a cell, by the verdicts that stand beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headway.analysis.cells import ContenderRuns
from headway.analysis.compare import Comparison, clearly_slower
from headway.analysis.contest import Contest, Pairing
from headway.analysis.metric import Metric
from headway.analysis.verdict import Verdict

Sides = Mapping[str, tuple[ContenderRuns, ...]]


def leaders_by_cell(
    sides_of: Sides, compared: Mapping[str, Sequence[Comparison]], metric: Metric
) -> dict[str, tuple[str, ...]]:
    """Who leads each cell: the contender with the best median, and all not clearly slower.

    Of two that the study compares, the verdict of that comparison decides, so that nobody leads alone beside one that
    says that nothing is shown. All others, against the best of their cell, are a family of their own.
    """
    best_of = {cell: best for cell, sides in sides_of.items() if (best := _best(sides, metric))}
    behind = {(cell, name) for cell in best_of for name in _losers(compared[cell])}
    met = {
        (cell, frozenset((comparison.contender, comparison.against)))
        for cell, comparisons in compared.items()
        for comparison in comparisons
    }
    contests = [
        (cell, Contest(Pairing(side.contender, best.contender), side.measured, best.measured))
        for cell, best in best_of.items()
        for side in sides_of[cell]
        if side.sample
        and side is not best
        and (cell, frozenset((side.contender, best.contender))) not in met
    ]
    slower = clearly_slower([contest for _, contest in contests], metric)
    behind |= {
        (cell, contest.pairing.contender)
        for (cell, contest), is_slower in zip(contests, slower, strict=True)
        if is_slower
    }
    return {
        cell: tuple(
            side.contender
            for side in sides
            if cell in best_of and side.sample and (cell, side.contender) not in behind
        )
        for cell, sides in sides_of.items()
    }


def _losers(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Who is clearly slower than another, by the comparisons of a cell."""
    for comparison in comparisons:
        if comparison.matters:
            yield (
                comparison.against if comparison.verdict is Verdict.FASTER else comparison.contender
            )


def _best(sides: Sequence[ContenderRuns], metric: Metric) -> ContenderRuns | None:
    """The side with the best median, the first of equals; None unless two sides finished."""
    judged = [(metric.judged(side.measured).sample, side) for side in sides]
    medians = [(sample.median, side) for sample, side in judged if sample]
    if len(medians) < 2:
        return None
    choose = min if metric.less_is_better else max
    return choose(medians, key=lambda entry: entry[0])[1]
