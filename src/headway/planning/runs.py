"""From a study to its runs: cells, contenders, repetitions and seeds, in the order of execution."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from headway.errors import WrongInputError
from headway.planning.cells import cells
from headway.planning.deploy import deploy
from headway.planning.deployment import Deployment
from headway.study.experiment import Coordinates, Experiment, Study
from headway.study.naming import run_name
from headway.study.path import Path
from headway.study.profiles import draws_path
from headway.study.setting import Setting
from headway.study.validation_messages import explain


@dataclass(frozen=True)
class Run:
    """One repetition of one contender in one cell."""

    run_id: str
    study: str
    experiment: str
    cell: str
    contender: str
    rep: int
    seed: int
    setting: Setting

    @cached_property
    def deployment(self) -> Deployment:
        """Its setting, resolved, with the paths as its seed meets them.

        Raises:
            WrongInputError: it names a program that does not exist, or a site.
        """
        return deploy(self.setting, self.seed)

    def forget_deployment(self) -> None:
        """Free its memory: of a study, nobody asks for most deployments again, and they are resolved anew if somebody does."""
        vars(self).pop("deployment", None)

    def __getstate__(self) -> dict[str, Any]:
        # Another process resolves it with its own programs.
        return {name: value for name, value in vars(self).items() if name != "deployment"}


@dataclass(frozen=True)
class _ContenderPlace:
    """A contender in a cell; its setting, of which every repetition may draw its own path."""

    experiment: Experiment
    cell: str
    coordinates: Coordinates
    contender: str
    setting: Setting

    @cached_property
    def draws_path(self) -> bool:
        return draws_path(self.setting)

    def run(self, study: Study, rep: int) -> Run:
        seed = study.seed + rep - 1
        setting = self._drawn(study, rep, seed) if self.draws_path else self.setting
        return Run(
            run_id=run_name(self.cell, self.contender, rep),
            study=study.name,
            experiment=self.experiment.name,
            cell=self.cell,
            contender=self.contender,
            rep=rep,
            seed=seed,
            setting=setting,
        )

    def _drawn(self, study: Study, rep: int, seed: int) -> Setting:
        """The setting with the path of a repetition, of which a rule may say what it does not of the profile's medians."""
        try:
            return self.experiment.setting(self.coordinates, self.contender, seed)
        except ValidationError as error:
            refusal = explain(
                error, study.place, self.coordinates, self.experiment.name, self.contender
            )
            raise WrongInputError(
                f"the path that repetition {rep} draws: {refusal.message}", where=refusal.where
            ) from None


def distinct_paths(runs: Iterable[Run]) -> dict[str, Path]:
    """The paths that runs have, each once, by what describes it; of a profile, those that every repetition draws."""
    # By identity first: repetitions share a setting unless they draw their paths.
    settings = {id(run.setting): run.setting for run in runs}
    paths = {id(path): path for setting in settings.values() for path in _paths(setting)}
    return {path.model_dump_json(): path for path in paths.values()}


def _paths(setting: Setting) -> Iterator[Path]:
    network = setting.network
    yield from (path for path in network.paths if path in network.crossed or _lets_pass(path))


def _lets_pass(path: Path) -> bool:
    """Whether anything comes over it that could be measured: a family's path may be broken."""
    return all(way.loss.mean < 1 for link in path.links for way in (link.down, link.up))


def plan(study: Study) -> tuple[Run, ...]:
    """All runs of a study; those that there are at most, if repetitions go on until intervals are narrow.

    Runs of a cell share a repetition's seed, so all contenders meet the same path. The order is
    shuffled by the study's seed within each repetition: contenders are interleaved, and a study
    that is cut short has whole repetitions.
    """
    places = [place for experiment in study.experiments for place in _places(experiment)]
    runs: list[Run] = []
    shuffler = random.Random(study.seed)
    for rep in range(1, max(experiment.repetitions.most for experiment in study.experiments) + 1):
        batch = [
            place.run(study, rep) for place in places if rep <= place.experiment.repetitions.most
        ]
        shuffler.shuffle(batch)
        runs += batch
    return tuple(runs)


def _places(experiment: Experiment) -> list[_ContenderPlace]:
    return [
        _ContenderPlace(
            experiment, cell, coordinates, contender, experiment.setting(coordinates, contender)
        )
        for cell, coordinates in cells(experiment).items()
        for contender in experiment.contenders
        if not experiment.excludes({**coordinates, "contender": contender})
    ]
