"""A neighbour of a cell that is tried: its experiment, and whether programs can do it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from headway.analysis.numbers import listed
from headway.campaign.feasibility import check_installed, checked_plan, needed_layers
from headway.errors import WrongInputError
from headway.image import status
from headway.image.keys import OWN_PROGRAMS
from headway.nearby.axis import NearbyAxis, NearbyLevel, known_axes
from headway.nearby.origin import OriginCell
from headway.planning.runs import Run
from headway.study.available_metrics import those_measured
from headway.study.axisnames import AxisName
from headway.study.experiment import Experiment, Study
from headway.study.setting import Setting

AGAIN = NearbyAxis("seeds", "the same again, with other seeds", 1000, lambda _: None, lambda _: ())
"""What is no neighbour but the cell itself: whether its sentence is found again. That is asked where a sentence seems to change
elsewhere, and of all others when every axis has been tried once."""


BETWEEN = -1
"""Rank of what is tried since a sentence changes farther out on its axis."""
_BETWEEN_NAME = "-between-"
_SIGNS = {".": "p", "-": "m", "+": ""}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _as_name(number: float) -> str:
    text = f"{number:g}"
    for sign, letter in _SIGNS.items():
        text = text.replace(sign, letter)
    return text


@dataclass(frozen=True, eq=False)
class Trial:
    """A neighbour of a cell.

    Attributes:
        origin: the cell.
        axis: what is varied.
        level: the neighbour.
        rank: its place among the neighbours of its axis; `BETWEEN` if it is between two of them, or one and the cell.
    """

    origin: OriginCell
    axis: NearbyAxis
    level: NearbyLevel
    rank: int

    @property
    def name(self) -> str:
        """Name of its experiment, unique in the study."""
        place = f"{self.origin.place}-{_slug(self.axis.name)}"
        if self.rank != BETWEEN:
            return f"{place}-{_slug(self.level.label)}"
        assert self.level.number is not None, "only an axis of numbers has places between others"
        return f"{place}{_BETWEEN_NAME}{_as_name(self.level.number)}"

    @cached_property
    def contenders(self) -> dict[str, dict[str, object]]:
        """Conditions of the contenders."""
        origin = self.origin
        return {
            name: self.level.change(raw, origin.settings[name])
            for name, raw in origin.tables.items()
        }

    def experiment(self, repetitions: int) -> Experiment:
        """Its experiment, in which every run is repeated so often."""
        return self.origin.experiment.beside(self.name, self.contenders, repetitions)

    @cached_property
    def settings(self) -> dict[str, Setting]:
        """Conditions of the contenders, resolved.

        Raises:
            WrongInputError: there are no such conditions.
        """
        experiment = self.experiment(1)
        try:
            return {name: experiment.setting({}, name) for name in self.contenders}
        except ValidationError as error:
            reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
            raise WrongInputError(reason) from None

    @cached_property
    def measures(self) -> frozenset[str]:
        """Which of the experiment's metrics it has values of."""
        experiment = self.experiment(1)
        return frozenset(those_measured(experiment, [({}, name) for name in self.contenders]))

    @property
    def changes_nothing(self) -> bool:
        """Whether its conditions are those of the cell, or contenders would be one and the same there."""
        if self.axis is AGAIN:
            return False
        own, here = list(self.origin.settings.values()), list(self.settings.values())
        if _distinct(here) < _distinct(own) or not _telling_knobs(own) <= _telling_knobs(here):
            # What tells the contenders apart is no setting of another program.
            return True
        return not self.changed

    @cached_property
    def changed(self) -> frozenset[str]:
        """The contenders whose conditions are others than in the cell."""
        own = self.origin.settings
        return frozenset(
            name
            for name, setting in self.settings.items()
            if _used(setting, own[name]) != own[name]
        )

    def concerns(self, *contenders: str) -> bool:
        """Whether it tells anything new of these contenders: of TCP's, nothing that QUIC alone has otherwise does."""
        return self.axis is AGAIN or not self.changed.isdisjoint(contenders)


def _distinct(settings: Iterable[Setting]) -> int:
    """How many different settings there are."""
    different: list[Setting] = []
    for setting in settings:
        if setting not in different:
            different.append(setting)
    return len(different)


def _telling_knobs(settings: Sequence[Setting]) -> set[tuple[str, str]]:
    """The knobs by which settings are told apart, with the side that has them."""
    sides = {
        "client": [s.client.knobs for s in settings],
        "server": [s.server.knobs for s in settings],
    }
    return {
        (side, name)
        for side, knobs in sides.items()
        for name in set().union(*knobs)
        if len({known.get(name) for known in knobs}) > 1
    }


def _used(setting: Setting, own: Setting) -> Setting:
    """A setting, but for what nobody uses: of flows that compete, each has hosts of its own."""
    unused = ("client", "server", "workload", "protocol") if setting.flows else ()
    return setting.model_copy(update={key: getattr(own, key) for key in unused})


@dataclass(frozen=True)
class Unable:
    """A neighbour that was not tried, and why."""

    trial: Trial
    reason: str


def study_of_trials(study: Study, trials: Iterable[tuple[Trial, int]]) -> Study:
    """The study of these neighbours, each with so many repetitions, whose seeds the other study has not used."""
    used = max(experiment.repetitions.most for experiment in study.experiments)
    return Study(
        name=f"{study.name}-nearby",
        question=f"How far does the answer hold? {study.question}".strip(),
        seed=(study.seed + used) % 2**32,
        experiments=tuple(trial.experiment(repetitions) for trial, repetitions in trials),
    )


class Present:
    """What of optional programs this machine has, looked up once."""

    @cached_property
    def _additions(self) -> frozenset[str]:
        additions = status().layout.additions
        there = {name for name, part in additions.items() if part.info()}
        # They are compiled on this machine whenever something needs them.
        return frozenset({OWN_PROGRAMS, *there})

    def lacks(self, runs: Sequence[Run]) -> str:
        """What runs need that is not there, and how it is fetched; empty if all is."""
        needed = needed_layers(runs)
        lacking = sorted(needed - self._additions) if needed else []
        if lacking:
            return f"needs {', '.join(lacking)}: `headway image build {' '.join(lacking)}`"
        try:
            check_installed(runs, runs[0].study)
        except WrongInputError as error:
            return error.message
        return ""


def trials_around(
    origin: OriginCell,
    study: Study,
    present: Present,
    *,
    axes: Collection[str] = tuple(AxisName),
    asked: Collection[str] = (),
) -> tuple[list[Trial], list[Unable]]:
    """The neighbours of a cell, and those that cannot be tried.

    Args:
        origin: the cell.
        study: its study.
        present: what this machine has.
        axes: on which it is varied.
        asked: axes that somebody named: one without a neighbour is told.
    """
    able: list[Trial] = []
    unable: list[Unable] = []
    for trial in _candidates(origin, axes):
        reason = _refusal(trial, study, present)
        if reason is None:
            able.append(trial)
        elif reason and not trial.axis.only_able:
            unable.append(Unable(trial, reason))
    # Of all axes most do not apply, and that goes without saying; an axis that was asked for is another matter.
    have = {trial.axis.name for trial in able} | {refused.trial.axis.name for refused in unable}
    for axis in known_axes():
        if axis.name in asked and axis.name not in have:
            level = NearbyLevel(axis.name, lambda raw, _: raw)
            unable.append(Unable(Trial(origin, axis, level, 0), _why_none(origin, axis)))
    return able, unable


def _why_none(origin: OriginCell, axis: NearbyAxis) -> str:
    if origin.varies(axis):
        return "the study varies it itself"
    return "there is none around this cell: " + axis.varies


def _candidates(origin: OriginCell, wanted: Collection[str]) -> Iterator[Trial]:
    yield Trial(origin, AGAIN, NearbyLevel("with other seeds", lambda raw, _: raw), 0)
    for axis in known_axes():
        levels = list(axis.levels(origin.setting))
        if axis.name in wanted and levels and not origin.varies(axis):
            yield from (Trial(origin, axis, level, rank) for rank, level in enumerate(levels))


def _refusal(trial: Trial, study: Study, present: Present) -> str | None:
    """Why a neighbour cannot be tried; empty if it is none, None if nothing is in its way."""
    try:
        if trial.changes_nothing:
            return ""
        if reason := _unmeasured(trial):
            return reason
        runs = planned(study, [(trial, 1)])
    except WrongInputError as error:
        return error.message
    return present.lacks(runs) or None


def _unmeasured(trial: Trial) -> str:
    """That nothing of what its sentences compare is measured there; empty if something is."""
    if trial.measures:
        return ""
    metrics = trial.origin.experiment.metrics
    return f"{listed(metrics, 'or')} {'is' if len(metrics) == 1 else 'are'} not measured there"


def planned(study: Study, trials: Sequence[tuple[Trial, int]]) -> tuple[Run, ...]:
    """The runs of neighbours.

    Raises:
        WrongInputError: programs cannot do what one asks of them.
    """
    derived = study_of_trials(study, trials)
    return checked_plan(derived, derived.name)


def trial_named(name: str, origins: Iterable[OriginCell], trials: Iterable[Trial]) -> Trial | None:
    """The neighbour whose experiment has this name; None if there is none.

    Args:
        name: of the experiment.
        origins: the cells of all neighbours.
        trials: those that are between no others.
    """
    place, between, number = name.partition(_BETWEEN_NAME)
    if not between:
        return next((trial for trial in trials if trial.name == name), None)
    for origin in origins:
        for axis in known_axes():
            if axis.at and place == f"{origin.place}-{_slug(axis.name)}":
                value = float(number.replace("p", ".").replace("m", "-"))
                return Trial(origin, axis, axis.at(origin.setting, value), BETWEEN)
    return None
