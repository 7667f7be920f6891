"""The cell that a sentence rests on: who is compared there, under which conditions, and what the study varies around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from headway.errors import WrongInputError
from headway.nearby.axis import NearbyAxis, Table
from headway.planning.cells import cells
from headway.records.manifest import ArchivedExperiment, Manifest
from headway.study.experiment import Coordinates, Experiment, Study
from headway.study.setting import Setting

_OF_THE_MANIFEST = ("looks", "grid", "comparisons", "baseline", "published", "claims", "compare")
"""What a manifest adds to an experiment, or what no run depends on."""


@dataclass(frozen=True, eq=False)
class OriginCell:
    """A cell of an experiment.

    Attributes:
        experiment: the experiment.
        cell: the cell's name.
        coordinates: the cell's.
        place: its number among all cells of the study, which names what is tried around it.
        contenders: those whose sentences rest on it.
        reference: the contender whose conditions neighbours are beside.
    """

    experiment: Experiment
    cell: str
    coordinates: Coordinates
    place: int
    contenders: tuple[str, ...]
    reference: str

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Conditions of its contenders, as a study file states them."""
        return {name: self.experiment.tables(self.coordinates, name) for name in self.contenders}

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """The same, resolved."""
        return {name: self.experiment.setting(self.coordinates, name) for name in self.contenders}

    @property
    def setting(self) -> Setting:
        """The reference's conditions."""
        return self.settings[self.reference]

    def varies(self, axis: NearbyAxis) -> bool:
        """Whether the study varies by itself, between cells or contenders, what an axis varies; None is no value."""
        kinds = {axis.reads(setting) for setting in self._all_settings} - {None}
        return len(kinds) > 1

    @cached_property
    def _all_settings(self) -> tuple[Setting, ...]:
        return tuple(_all_settings(self.experiment))


def _all_settings(experiment: Experiment) -> Iterator[Setting]:
    for coordinates in experiment.grid():
        for contender in experiment.contenders:
            if not experiment.excludes({**coordinates, "contender": contender}):
                yield experiment.setting(coordinates, contender)


def study_of(manifest: Manifest, where: str) -> Study:
    """The study that results are of, as their manifest states it.

    Raises:
        WrongInputError: they have no manifest that does.
    """
    if not manifest.study.experiments:
        raise WrongInputError("has no manifest that states its study", where=where)
    return Study(
        name=manifest.study.name,
        question=manifest.study.question,
        seed=manifest.study.seed,
        experiments=tuple(map(_experiment, manifest.study.experiments)),
    )


def _experiment(stated: ArchivedExperiment) -> Experiment:
    raw = stated.model_dump(mode="json", exclude_unset=True)
    kept = {key: value for key, value in raw.items() if key not in _OF_THE_MANIFEST}
    if stated.faults is not None:
        # The axis of faults is made of them.
        kept["axes"] = {axis: values for axis, values in kept["axes"].items() if axis != "fault"}
    return Experiment.model_validate(kept)


def origins_of(
    study: Study, needed: Mapping[tuple[str, str], tuple[tuple[str, ...], str]]
) -> dict[tuple[str, str], OriginCell]:
    """The cells that sentences rest on, by experiment and cell.

    Args:
        study: the study.
        needed: by experiment and cell its contenders, and the reference.

    Raises:
        WrongInputError: the study has no such cell.
    """
    every = [
        (experiment, cell, coordinates)
        for experiment in study.experiments
        for cell, coordinates in cells(experiment).items()
    ]
    return {
        (experiment.name, cell): OriginCell(
            experiment, cell, coordinates, place, *needed[experiment.name, cell]
        )
        for place, (experiment, cell, coordinates) in enumerate(every)
        if (experiment.name, cell) in needed
    }
