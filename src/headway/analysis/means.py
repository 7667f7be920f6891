"""Means over cells: what the cells of a repetition tell together of a comparison."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from headway.analysis.cells import Cell
from headway.analysis.compare import Comparison
from headway.analysis.difference import of_pairs

Case = tuple[Cell, Comparison]
"""A comparison, and the cell that it is of."""


def log_of(comparison: Comparison) -> float:
    """The logarithm of a comparison's typical ratio."""
    assert comparison.relative is not None
    return math.log1p(comparison.relative)


def centre(cases: Sequence[Case]) -> float:
    """The mean of the logarithms of the typical ratios: each cell counts the same."""
    return statistics.fmean(log_of(comparison) for _, comparison in cases)


def means_by_seed(cases: Sequence[Case]) -> dict[int, float]:
    """For each repetition the mean over cells of the logarithms of its ratios, by its seed, in order.

    Where a run failed, its cell is taken to be as it is in the middle.
    """
    away: dict[int, list[float]] = defaultdict(list)
    for _, comparison in cases:
        for seed, log in zip(
            comparison.difference.seeds, _bounded(comparison.difference.logs), strict=True
        ):
            away[seed].append(log - log_of(comparison))
    middle = centre(cases)
    return {seed: middle + math.fsum(values) / len(cases) for seed, values in sorted(away.items())}


def of_all(cases: Sequence[Case], last: int) -> tuple[Case, ...]:
    """The comparisons by those repetitions alone that all cells have; none if a cell has no pair among them.

    Where each cell has as many as it takes, they are those of a look that came in every cell: what is told of all
    cells allows for the looks, and could not for every combination of them.

    Args:
        cases: the comparisons.
        last: seed of the last repetition that was carried out in all cells.
    """
    if any(min(comparison.difference.seeds) > last for _, comparison in cases):
        return ()
    return tuple((cell, _up_to(comparison, last)) for cell, comparison in cases)


def _up_to(comparison: Comparison, last: int) -> Comparison:
    """A comparison by the pairs up to a seed."""
    pairs = zip(comparison.difference.seeds, comparison.difference.logs, strict=True)
    kept = [(seed, log) for seed, log in pairs if seed <= last]
    if len(kept) == len(comparison.difference.seeds):
        return comparison
    seeds, logs = zip(*kept, strict=True)
    return replace(comparison, difference=of_pairs(logs, seeds))


def alike(logs: Sequence[float]) -> bool:
    """Whether nothing varies."""
    return max(logs) - min(logs) < 1e-12


def _bounded(logs: Sequence[float]) -> list[float]:
    """A pair with a run that timed out counts as the cell's most extreme that finished."""
    finite = [log for log in logs if math.isfinite(log)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return [min(max(log, low), high) for log in logs]
