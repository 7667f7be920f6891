"""Data that a claim's rule asks for: whether an experiment can have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headway.columns import PageMetrics, columns_of
from headway.study.claim import FEWEST_CELLS, FEWEST_POINTS, Claim, Correlation, Monotone
from headway.study.experiment import Coordinates, Experiment
from headway.study.units import magnitude


def lacking(claim: Claim, experiment: Experiment) -> str | None:
    """What a claim asks for and no run of the experiment can have; None if it lacks nothing."""
    cells = [cell for cell in experiment.grid() if claim.is_about(cell)]
    for name in claim.named:
        if all(experiment.excludes({**cell, "contender": name}) for cell in cells):
            return f"{name!r} is left out of all these cells"
    compared = [
        cell
        for cell in cells
        if not any(experiment.excludes({**cell, "contender": name}) for name in claim.named)
    ]
    if (
        claim.over is not None
        and (most := max(_rows(compared, claim.over), default=0)) < FEWEST_CELLS
    ):
        return (
            f"a typical cell over {claim.over} takes at least {FEWEST_CELLS} cells that differ in it alone; "
            f"here are {most}"
        )
    match claim.rule:
        case Monotone(axis=axis):
            return _no_step(cells, axis)
        case Correlation(axis=str(axis)):
            known = [cell for cell in cells if magnitude(cell.get(axis)) is not None]
            return _too_few(len(known), f"a quantity of {axis}")
        case Correlation(column=str(column)):
            return _not_of_pages(cells, experiment, column) or _too_few(len(cells), "runs")
        case _:
            return None


def _no_step(cells: Sequence[Coordinates], axis: str) -> str | None:
    """Whether no two cells differ in this axis alone."""
    if any(count > 1 for count in _rows(cells, axis)):
        return None
    return f"no two of these cells differ in {axis} alone, so there is no step along it"


def _rows(cells: Sequence[Coordinates], axis: str) -> list[int]:
    """How many cells there are that differ in this axis alone, for each value of all others."""
    rows = Counter(
        repr([pair for pair in sorted(cell.items()) if pair[0] != axis])
        for cell in cells
        if axis in cell
    )
    return list(rows.values())


def _too_few(count: int, what: str) -> str | None:
    if count >= FEWEST_POINTS:
        return None
    return f"a correlation needs at least {FEWEST_POINTS} cells with {what}; here are {count}"


def _not_of_pages(cells: Sequence[Coordinates], experiment: Experiment, column: str) -> str | None:
    """Whether a column that only loads of pages have is asked of other runs."""
    if column not in columns_of(PageMetrics):
        return None
    contender = next(iter(experiment.contenders))
    workloads = {experiment.setting(cell, contender).workload.kind for cell in cells}
    return None if "page" in workloads else f"{column} is for page loads, and these cells have none"
