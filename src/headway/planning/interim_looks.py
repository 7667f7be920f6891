"""Repetitions in rounds: when results are looked at, and who goes on together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headway.planning.boots import REPETITIONS_OF_A_BOOT
from headway.planning.cells import cells
from headway.study.experiment import Experiment

if TYPE_CHECKING:
    from headway.planning.runs import Run


class Group(NamedTuple):
    """Contenders of a cell that have the same repetitions.

    Attributes:
        experiment: its experiment.
        cell: its cell.
        contender: the only one of it; empty if all of the cell are of it.
    """

    experiment: str
    cell: str
    contender: str


def looks_of(experiment: Experiment) -> tuple[int, ...]:
    """After how many repetitions an experiment's results are looked at, the last time at its end.

    Where repetitions share the start of a browser, after whole starts: a run is then what it is if nobody looks.
    """
    if experiment.repetitions.until is None:
        return experiment.repetitions.looks()
    shared = any(
        experiment.setting(coordinates, contender).may_share_a_boot
        for coordinates in cells(experiment).values()
        for contender in experiment.contenders
        if not experiment.excludes({**coordinates, "contender": contender})
    )
    return experiment.repetitions.looks(REPETITIONS_OF_A_BOOT if shared else 1)


def group_of(run: Run) -> Group:
    """With whom a run's contender has its repetitions.

    Contenders of a cell are compared by pairs and go on together. Flows that compete are told of each contender by
    itself: each goes on alone.
    """
    return Group(run.experiment, run.cell, run.contender if run.setting.flows else "")
