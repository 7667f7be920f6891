"""Runs with a single fault, apart from those without, which contenders are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from headway.columns import Status
from headway.records.manifest import ArchivedExperiment
from headway.study.fault import AXIS, Fault


def apart(experiment: ArchivedExperiment, runs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An experiment's runs without a fault, and those with one, if it tries each packet once."""
    beside = cells_without(experiment)
    happens = pl.col("cell").is_in([cell for cell, without in beside.items() if cell != without])
    return runs.filter(~happens), runs.filter(happens)


def of_its_fault() -> pl.Expr:
    """Whether a run that did not end well had met its fault: a result of that, and no failure of the study."""
    ended_badly = pl.col("status") != Status.OK.value
    return ended_badly & (pl.col("fault_met").fill_null(0) > 0)


def cells_without(experiment: ArchivedExperiment) -> dict[str, str]:
    """By the name of each cell that of the cell in which nothing happens to a packet; empty without a sweep."""
    if experiment.faults is None:
        return {}
    grid = {name: _without_fault(at) for name, at in experiment.coordinates.items()}
    own = {at: name for name, (at, happens) in grid.items() if not happens}
    return {name: own[at] for name, (at, _) in grid.items()}


def coordinates_without(experiment: ArchivedExperiment) -> dict[str, dict[str, Any]]:
    """Coordinates of an experiment's cells; of those in which nothing happens, if it tries each packet once."""
    if experiment.faults is None:
        return experiment.coordinates
    own = set(cells_without(experiment).values())
    return {
        cell: {key: value for key, value in at.items() if key != AXIS}
        for cell, at in experiment.coordinates.items()
        if cell in own
    }


def _without_fault(at: Mapping[str, Any]) -> tuple[str, bool]:
    """What tells a cell from others but for its fault, and whether it has one."""
    others = repr([(key, value) for key, value in at.items() if key != AXIS])
    return others, Fault.model_validate(at[AXIS]).happens


def fault_of(experiment: ArchivedExperiment, cell: str) -> str:
    """The fault of a cell: ``lose down 3``."""
    return str(experiment.coordinates[cell][AXIS])
