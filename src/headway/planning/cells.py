"""The cells of an experiment by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.study.experiment import Coordinates, Experiment
from headway.study.naming import cell_name


def cells(experiment: Experiment) -> dict[str, Coordinates]:
    """The cells of an experiment by their names."""
    return {cell_name(experiment, coordinates): coordinates for coordinates in experiment.grid()}


def cell_at(experiment: Experiment, where: Mapping[str, Any]) -> str | None:
    """The cell with these coordinates, in whatever order; None if the grid has none."""
    wanted = {axis: str(value) for axis, value in where.items()}
    return next(
        (
            name
            for name, coordinates in cells(experiment).items()
            if {axis: str(value) for axis, value in coordinates.items()} == wanted
        ),
        None,
    )
