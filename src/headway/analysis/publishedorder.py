"""Two published values of a cell: which contender is faster there, and which in our runs."""

from __future__ import annotations

from dataclasses import dataclass

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison
from headway.analysis.contest import Pairing
from headway.analysis.difference import NEGLIGIBLE
from headway.analysis.published import (
    TOLERANCE,
    comparison_of,
    factor_of,
    of_metric,
    our_direction,
)
from headway.analysis.verdict import Verdict, direction
from headway.study.published import RunInterval


@dataclass(frozen=True)
class PublishedOrder:
    """Two values published for one cell: which is faster there, and which is in our runs.

    Attributes:
        title: the cell in words.
        span: as a `ArchivedPublished` has it.
        comparison: ours.
        published: the two published values, the contender's first, in the metric's unit.
        theirs: what the published values say of the contender: faster, slower or equal.
        ours: what our runs say, as `our_direction` has it.
        same: whether that is the same; values published as equal are matched by a relative
            difference of ours within ``TOLERANCE``. None if ours cannot be compared.
    """

    title: str
    span: RunInterval | None
    comparison: Comparison
    published: tuple[float, float]
    theirs: Verdict
    ours: Verdict
    same: bool | None


def orders(analysis: Analysis) -> tuple[PublishedOrder, ...]:
    """For what the experiment compares: whether ours differ in the published direction."""
    values = {
        (told_published.span, told_published.cell, told_published.contender): told_published.value
        / factor_of(analysis, told_published)
        for told_published in of_metric(analysis)
        if told_published.against is None
    }
    return tuple(
        _order(analysis, cell, span, compared.pairing, (values[first], values[second]))
        for span in dict.fromkeys(span for span, _, _ in values)
        for cell, compared in analysis.comparisons
        if (first := (span, cell.name, compared.contender)) in values
        and (second := (span, cell.name, compared.against)) in values
    )


def _order(
    analysis: Analysis,
    cell: Cell,
    span: RunInterval | None,
    pairing: Pairing,
    published: tuple[float, float],
) -> PublishedOrder:
    metric, (first, other) = analysis.metric, published
    sides = {side.contender: side for side in cell.sides}
    comparison = comparison_of(
        analysis, cell, span, sides[pairing.contender], sides[pairing.against]
    )
    equal = abs(first - other) < NEGLIGIBLE * max(abs(first), abs(other)) or first == other
    theirs = Verdict.EQUAL if equal else direction(metric.away(first) - metric.away(other), metric)
    ours = our_direction(comparison)
    same = ours is theirs
    if theirs is Verdict.EQUAL and comparison.relative is not None:
        same = abs(comparison.relative) <= TOLERANCE
    compared = None if ours is Verdict.INCOMPARABLE else same
    return PublishedOrder(cell.title, span, comparison, published, theirs, ours, compared)
