"""The choice of what tells most: cells, comparisons and factors of a figure that cannot show all."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

from headway.analysis import Analysis, Cell, Comparison, Pairing


def weight(comparison: Comparison | None) -> float:
    """How much a comparison tells: the size of its log ratio; nothing if it does not matter."""
    return abs(_log_ratio(comparison)) if comparison and comparison.matters else 0.0


def rank(comparison: Comparison) -> tuple[float, float]:
    """How much a comparison tells; of those that do not matter, how much they differ."""
    return weight(comparison), abs(_log_ratio(comparison))


def telling_cells(analysis: Analysis, most: int) -> tuple[Cell, ...]:
    """The cells with the largest differences, in the order of the analysis.

    Those that matter come first: a difference that may be chance tells little.
    """
    if len(analysis.cells) <= most:
        return analysis.cells
    cells = sorted(analysis.cells, key=_cell_weight, reverse=True)[:most]
    kept = {cell.name for cell in cells}
    return tuple(cell for cell in analysis.cells if cell.name in kept)


def left_out(shown: int, known: int, what: str = "conditions") -> str:
    """The end of a caption, which says that all but those that tell most are left out; empty if none is."""
    return f" The {shown} of {known} {what} with the largest differences." if shown < known else ""


def telling_pairings(analysis: Analysis, most: int) -> tuple[Pairing, ...]:
    """The comparisons with the largest differences in sum, in the order of the analysis."""
    if len(analysis.pairings) <= most:
        return analysis.pairings
    sums: dict[Pairing, float] = defaultdict(float)
    for cell in analysis.cells:
        for comparison in cell.comparisons:
            sums[comparison.pairing] += weight(comparison)
    kept = sorted(analysis.pairings, key=lambda pairing: -sums[pairing])[:most]
    return tuple(pairing for pairing in analysis.pairings if pairing in kept)


def telling_factors(analysis: Analysis) -> tuple[int, ...]:
    """Places of the factors, first the one over whose levels the differences vary most."""
    places = range(len(analysis.conditions.factors))
    return tuple(sorted(places, key=lambda place: -_variation(analysis, place)))


def representative_cells(analysis: Analysis, most: int, keep: Sequence[int] = ()) -> list[Cell]:
    """At most this many cells, by leaving out levels of the factors that tell least.

    Of a factor that is thinned out, levels from the first to the last remain, evenly spread.

    Args:
        analysis: the study.
        most: number of cells.
        keep: places of factors that keep all their levels.
    """
    kept = [set(range(len(factor.levels))) for factor in analysis.conditions.factors]
    thin = [place for place in reversed(telling_factors(analysis)) if place not in keep]
    cells = list(analysis.cells)
    for count in (4, 3, 2, 1):
        for place in thin:
            if len(cells) <= most:
                return cells
            kept[place] = set(spread_out(len(analysis.conditions.factors[place].levels), count))
            cells = [cell for cell in analysis.cells if _within(cell, kept)]
    return cells[:most]


def representative_as_studied(analysis: Analysis, most: int) -> list[Cell]:
    """The same cells in the order in which the study has them."""
    kept = {cell.name for cell in representative_cells(analysis, most)}
    return [cell for cell in analysis.cells_as_studied if cell.name in kept]


def spread_out(count: int, most: int) -> list[int]:
    """At most this many of the first ``count`` numbers, evenly spread, first and last among them."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def _within(cell: Cell, kept: Sequence[set[int]]) -> bool:
    return all(level in levels for level, levels in zip(cell.levels, kept, strict=True))


def _cell_weight(cell: Cell) -> tuple[float, float]:
    return max(map(rank, cell.comparisons), default=(0.0, 0.0))


def _log_ratio(comparison: Comparison) -> float:
    if comparison.relative is None or comparison.relative <= -1:
        return 0.0
    return math.log1p(comparison.relative)


def _variation(analysis: Analysis, place: int) -> float:
    """Variance between a factor's levels of the mean log ratio, summed over comparisons."""
    ratios: dict[Pairing, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in analysis.cells:
        for comparison in cell.comparisons:
            ratios[comparison.pairing][cell.levels[place]].append(_log_ratio(comparison))
    return math.fsum(
        statistics.pvariance([statistics.fmean(values) for values in by_level.values()])
        for by_level in ratios.values()
    )
