"""Levels of an axis compared as contenders are: every contender at a level against itself at another.

The runs are told anew: what competes in a cell are the levels, and what a cell is called by are the contender and the
other axes. All else is as of any experiment, for all cells of a study have the same seeds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from headway.analysis.analysis import Analysis, analyse
from headway.analysis.axes import CONTENDER, Axis
from headway.analysis.factors import axis_of
from headway.analysis.result_loading import StudyResults
from headway.records.manifest import ArchivedCell, ArchivedExperiment


@dataclass(frozen=True)
class Across:
    """An axis whose levels are compared.

    Attributes:
        name: the axis, in a word or two.
        baseline: the level that others are compared with.
        analyses: by every metric of the experiment; their contenders are the levels.
    """

    name: str
    baseline: str
    analyses: tuple[Analysis, ...]

    @property
    def said(self) -> str:
        """What is compared, and by what."""
        by = "by runs with the same seed" if self.paired else "without pairs, because seeds differ"
        return f"each contender against itself at {self.baseline}, {by}"

    @cached_property
    def paired(self) -> bool:
        """Whether runs at two levels shared seeds wherever they were compared."""
        return all(value.is_paired for value in self._compared)

    @cached_property
    def _compared(self) -> list[Any]:
        compared = [
            comparison for analysis in self.analyses for _, comparison in analysis.comparisons
        ]
        return [comparison for comparison in compared if comparison.relative is not None]


def across_levels(results: StudyResults, experiment: ArchivedExperiment) -> Across | None:
    """The levels of the axis that an experiment compares; None if it compares none, or ran only one."""
    asked, grid = experiment.compare, experiment.coordinates
    if asked is None:
        return None
    runs = results.runs_of(experiment)
    axis = axis_of(runs, grid, asked.axis)
    if axis is None or len(axis.factor.levels) < 2:
        return None
    told_experiment = _told(experiment, axis, grid, asked.baseline)
    turned = replace(results, runs=_turned(runs, axis, grid, told_experiment.name), flows=None)
    analyses = tuple(analyse(turned, told_experiment, metric) for metric in told_experiment.metrics)
    return Across(axis.factor.name, str(told_experiment.baseline), analyses)


def _told(
    experiment: ArchivedExperiment, axis: Axis, grid: Mapping[str, Mapping[str, Any]], baseline: Any
) -> ArchivedExperiment:
    """The experiment whose contenders are the levels."""
    levels = axis.factor.levels
    several = len(experiment.contenders) > 1
    cells = {
        _cell(contender, at, axis): {
            **({CONTENDER: contender} if several else {}),
            **_others(at, axis),
        }
        for at in grid.values()
        for contender in experiment.contenders
    }
    slug = re.sub(r"[^a-z0-9]+", "-", axis.factor.name.lower()).strip("-")
    return experiment.model_copy(
        update={
            "name": "-".join(filter(None, (experiment.name, "across", slug))),
            "contenders": {level: {} for level in levels},
            "baseline": levels[_level(axis, grid, baseline)],
            "comparisons": (),
            "compare": None,
            "published": (),
            "claims": (),
            "grid": tuple(ArchivedCell(name=name, at=at) for name, at in cells.items()),
        }
    )


def _level(axis: Axis, grid: Mapping[str, Mapping[str, Any]], value: Any) -> int:
    """Index of the level with this value; the first if none is given, or it was not run."""
    numbers = (
        level
        for cell, level in axis.level_of.items()
        if value is not None and str(grid[cell].get(axis.key)) == str(value)
    )
    return next(numbers, 0)


def _turned(
    runs: pl.DataFrame, axis: Axis, grid: Mapping[str, Mapping[str, Any]], name: str
) -> pl.DataFrame:
    """The runs with the level as their contender, in cells of their contender and the other axes."""
    places = [
        (_cell(contender, grid[cell], axis), axis.factor.levels[axis.level_of[cell]])
        for cell, contender in zip(runs["cell"].to_list(), runs["contender"].to_list(), strict=True)
    ]
    cells, levels = zip(*places, strict=True)
    return runs.with_columns(
        pl.Series("cell", cells), pl.Series("contender", levels), pl.lit(name).alias("experiment")
    )


def _cell(contender: str, at: Mapping[str, Any], axis: Axis) -> str:
    """A name for the cell of a contender and the other axes."""
    others = (f"{key} {value}" for key, value in _others(at, axis).items())
    return ", ".join((contender, *others))


def _others(at: Mapping[str, Any], axis: Axis) -> dict[str, Any]:
    return {key: value for key, value in at.items() if key != axis.key}
