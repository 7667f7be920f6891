"""The study: experiments, each a grid of cells in which contenders are compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from headway.errors import WrongInputError, nearest
from headway.study.adjusting import AdjustedTogether
from headway.study.base_model import Part, wrong
from headway.study.budget import MetricBudget
from headway.study.claim import Claim
from headway.study.fault import AXIS, FaultSweep
from headway.study.levels import LevelComparison
from headway.study.merging import merged, with_value
from headway.study.neighbourhood import Neighbourhood, neighbourhood_from
from headway.study.population import SITES_AXIS, Population, drawn_by
from headway.study.profiles import realise
from headway.study.published import USUAL_METRIC, AskedMetric, Explanation, Published, Reason
from headway.study.repetitions import ONCE, Repetitions
from headway.study.setting import Setting
from headway.study.settingkeys import Variation
from headway.study.source import Source
from headway.study.user_programs import OutsideProgram
from headway.study.usualmetrics import has_flows, usual_metrics

NAME = r"^[a-z0-9][a-z0-9-]*$"
"""What studies and experiments may be called: their names are parts of file names."""
LONGEST_NAME = 100
USUAL_BASELINE = "h2"
_ALL_FLOWS = "flows"
"""The only contender of a study whose flows have protocols of their own."""

Coordinates = dict[str, Any]
"""Values of the axes, by dotted name, at a cell."""


class Experiment(Part):
    """A grid of cells, in each of which contenders are compared."""

    name: str = ""
    question: str = ""
    repetitions: Repetitions = ONCE
    contenders: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="by name, the settings that make a contender"
    )
    baseline: str = Field(default="", description="the contender that others are compared with")
    comparisons: tuple[tuple[str, str], ...] = Field(
        default=(), description="pairs [contender, against]; by default all against the baseline"
    )
    compare: LevelComparison | None = Field(
        default=None, description="an axis whose levels are compared, each contender with itself"
    )
    metrics: tuple[AskedMetric, ...] = Field(default=(USUAL_METRIC,), min_length=1)
    axes: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict, description="values of settings, by dotted name, that are crossed"
    )
    cells: tuple[Coordinates, ...] = Field(
        default=(), description="cells beside those that the axes make"
    )
    exclude: tuple[Coordinates, ...] = Field(
        default=(), description="cells that are left out: those with all of these values"
    )
    published: tuple[Published, ...] = ()
    reasons: tuple[Reason, ...] = Field(
        default=(), exclude=True, description="why published values differ, stated once for several"
    )
    explains: Explanation | None = Field(
        default=None,
        exclude_if=lambda explains: explains is None,
        description="another experiment, whose missed published values these runs explain where they meet them",
    )
    claims: tuple[Claim, ...] = Field(
        default=(), description="a paper's statements, to be judged by our runs"
    )
    budget: dict[str, MetricBudget | tuple[MetricBudget, ...]] = Field(
        default_factory=dict,
        exclude=True,
        description="limits of metrics, by their names; each is one more claim",
    )
    faults: FaultSweep | None = Field(
        default=None, description="each packet of a transfer meets a fault once"
    )
    population: Population | None = Field(
        default=None,
        exclude_if=lambda population: population is None,
        description="sites of which a sample is the axis workload.site",
    )
    conditions: dict[str, Any] = Field(
        default_factory=dict, description="the rest of the setting, as written in the file"
    )

    # Checking a study makes all of them, and its plan needs them again.
    _settings: dict[tuple[str, str], Setting] = PrivateAttr(default_factory=dict)
    _programs: tuple[OutsideProgram, ...] = PrivateAttr(default=())

    @model_validator(mode="before")
    @classmethod
    def _contenders_from_protocols(cls, value: Any) -> Any:
        """Without contenders, the axis ``protocol`` is the simple form of them; with some, an axis as any other."""
        if not isinstance(value, dict) or not isinstance(value.get("axes", {}), dict):
            return value
        if value.get("contenders"):
            return value
        axes = dict(value.get("axes", {}))
        protocols = axes.pop("protocol", None)
        if protocols is None:
            usual = _ALL_FLOWS if has_flows(value) else USUAL_BASELINE
            only = str(value.get("conditions", {}).get("protocol", usual))
            return value | {"contenders": {only: {}}}
        return value | {
            "axes": axes,
            "contenders": {str(protocol): {"protocol": protocol} for protocol in protocols},
        }

    @model_validator(mode="before")
    @classmethod
    def _faults_are_an_axis(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("faults") is None:
            return value
        try:
            sweep = FaultSweep.model_validate(value["faults"])
        except ValidationError:
            return value  # told of the field, with its place in the file
        axes = dict(value.get("axes", {}))
        if AXIS in axes or AXIS in value.get("conditions", {}):
            raise wrong("faults", "makes the axis fault; leave out the key fault")
        axes[AXIS] = tuple(map(str, sweep.faults()))
        return value | {"axes": axes, "faults": sweep}

    @model_validator(mode="before")
    @classmethod
    def _usual_metrics_by_workload(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "metrics" in value:
            return value
        metrics = usual_metrics(value)
        return value | {"metrics": metrics} if metrics else value

    @field_validator("baseline")
    @classmethod
    def _names_one(cls, baseline: str) -> str:
        if not baseline:
            raise ValueError("is the name of a contender, not empty")
        return baseline

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Who is compared with whom: contender and against."""
        if self.comparisons:
            return self.comparisons
        names = list(self.contenders)
        usual = USUAL_BASELINE if USUAL_BASELINE in names else names[0]
        base = self.baseline or usual
        return tuple((name, base) for name in names if name != base)

    def grid(self) -> Iterator[Coordinates]:
        """Coordinates of all cells: the axes crossed, the last varying fastest, then the others."""
        return (dict(cell) for cell in self._all_cells() if not self.excludes(cell))

    def _all_cells(self) -> Iterator[Coordinates]:
        """Those that are excluded, too."""
        if self.axes or not self.cells:
            for values in itertools.product(*self.axes.values()):
                yield dict(zip(self.axes, values, strict=True))
        yield from self.cells

    def excludes(self, coordinates: Mapping[str, Any]) -> bool:
        """Whether a cell, or a contender in it (as coordinate ``contender``), is left out."""
        return any(
            all(
                key in coordinates and _is_one_of(coordinates[key], value)
                for key, value in rule.items()
            )
            for rule in self.exclude
        )

    def leaves_out_something(self, rule: Coordinates) -> bool:
        """Whether a rule of `exclude` concerns any cell, or contender in one.

        Every value of a rule must do so, not only one of a list.
        """
        contenders = [{"contender": name} for name in self.contenders]
        named = contenders if "contender" in rule else [{}]
        met = [
            {**cell, **contender}
            for cell in self._all_cells()
            if all(_is_one_of(cell.get(key), value) for key, value in rule.items() if key in cell)
            for contender in named
        ]
        met = [
            values for values in met if all(_is_one_of(values.get(key), rule[key]) for key in rule)
        ]
        return all(
            str(choice) in {str(values[key]) for values in met}
            for key, value in rule.items()
            for choice in (value if isinstance(value, list) else [value])
        ) and bool(met)

    def levels(self, axis: str) -> list[str]:
        """The values that cells have of an axis, as written; of ``contender`` all contenders."""
        if axis == "contender":
            return list(self.contenders)
        values = [*self.axes.get(axis, ()), *(cell[axis] for cell in self.cells if axis in cell)]
        return list(dict.fromkeys(map(str, values)))

    def setting(
        self, coordinates: Mapping[str, Any], contender: str, seed: int | None = None
    ) -> Setting:
        """The conditions of a contender in a cell.

        Args:
            coordinates: the cell.
            contender: its name.
            seed: seed of a repetition, of which a path profile is drawn; its medians if None.

        Raises:
            pydantic.ValidationError: the combination is not a valid setting.
            WrongInputError: no such path profile.
        """
        if seed is not None:
            return self._made(coordinates, contender, seed)
        place, settings = (contender, repr(coordinates)), self._settings
        if place not in settings:
            settings[place] = self._made(coordinates, contender, None)
        return settings[place]

    def tables(self, coordinates: Mapping[str, Any], contender: str) -> dict[str, Any]:
        """The conditions of a contender in a cell, as a study file that had no others would state them."""
        # A setting alone is exact; repetitions of a study are samples unless it says otherwise.
        raw: dict[str, Any] = {"variation": Variation.PHASES, **self.conditions}
        for dotted, value in coordinates.items():
            raw = with_value(raw, dotted.split("."), value)
        return merged(raw, self.contenders[contender])

    def beside(
        self, name: str, contenders: Mapping[str, dict[str, Any]], repetitions: int
    ) -> Experiment:
        """An experiment of one cell with this one's metrics, each of whose contenders states all its conditions.

        Args:
            name: of the experiment.
            contenders: conditions, as `tables` has them, by name.
            repetitions: how often each run is repeated.
        """
        return Experiment(
            name=name,
            contenders=dict(contenders),
            metrics=self.metrics,
            repetitions=Repetitions.model_validate(repetitions),
        ).with_programs(self._programs)

    def _made(self, coordinates: Mapping[str, Any], contender: str, seed: int | None) -> Setting:
        raw = self.tables(coordinates, contender)
        setting = Setting.model_validate(realise(raw, self._drawn_by(coordinates, seed)))
        named = tuple(
            program for program in self._programs if (program.role, program.name) in setting.named
        )
        return setting.model_copy(update={"programs": named}) if named else setting

    def _drawn_by(self, coordinates: Mapping[str, Any], seed: int | None) -> int | None:
        """By what a path profile is drawn: sites of a population are observations, so each has draws of its own."""
        if seed is None or self.population is None:
            return seed
        return drawn_by(str(coordinates.get(SITES_AXIS)), seed)

    def explained(self) -> Self:
        """This experiment, whose published values without a ``why`` have that of the first reason about them."""
        published = tuple(map(self._explained, self.published))
        return self.model_copy(update={"published": published})

    def _explained(self, value: Published) -> Published:
        reasons = (reason.why for reason in self.reasons if reason.explains(value))
        return value if value.why else value.model_copy(update={"why": next(reasons, "")})

    def with_programs(self, programs: tuple[OutsideProgram, ...]) -> Self:
        """This experiment, which knows programs from outside."""
        self._programs = programs
        return self


class Study(Part):
    """A question, and the experiments that answer it."""

    _source: Source | None = PrivateAttr(default=None)

    name: str = Field(pattern=NAME, max_length=LONGEST_NAME)
    question: str = ""
    seed: int = Field(default=1, ge=0, lt=2**32, description="seed of the first repetition")
    adjust: AdjustedTogether = Field(
        default=AdjustedTogether.METRIC,
        description="which comparisons p-values are adjusted for together: those of a metric of an experiment, of all "
        "its metrics, or of the study",
    )
    nearby: Annotated[Neighbourhood | None, BeforeValidator(neighbourhood_from)] = Field(
        default=None,
        description="tries how far the answer holds, after the study; true: on all axes, for as long again",
    )
    experiments: tuple[Experiment, ...] = Field(min_length=1)

    @property
    def at_most(self) -> str:
        """What stands before the number of its runs, if there may be fewer of them; else nothing."""
        sooner = any(experiment.repetitions.until is not None for experiment in self.experiments)
        return "at most " if sooner else ""

    @property
    def source(self) -> Source | None:
        """The text that it was read from; None if it was not read."""
        return self._source

    @property
    def place(self) -> Source:
        """Where messages find its keys: its text, or none by its name."""
        return self._source or Source(self.name, "", Path())

    def only(self, names: Sequence[str]) -> Self:
        """This study with these of its experiments.

        Raises:
            WrongInputError: it has no such experiment.
        """
        known = [experiment.name for experiment in self.experiments]
        for name in names:
            if name not in known:
                there = nearest(name, known, then=f"there are {', '.join(known)}")
                raise WrongInputError(
                    f"{self.name} has no experiment {name!r}{there}"
                    if any(known)
                    else f"{self.name} has no experiments",
                    where="--only",
                )
        experiments = tuple(
            experiment for experiment in self.experiments if experiment.name in names
        )
        return self.model_copy(update={"experiments": experiments})

    def read_from(self, source: Source) -> Self:
        """This study, which knows what text it was read from."""
        self._source = source
        return self


OF_STUDIES = tuple(key for key in Study.model_fields if key != "experiments")
"""Keys that are of a study as a whole, and of none of its experiments."""
OF_MODELS_ONLY = ("name", "conditions")
"""Fields of an experiment that no file writes in it: its name is its table's, its conditions are keys beside the others."""


def _is_one_of(value: Any, wanted: Any) -> bool:
    choices = wanted if isinstance(wanted, list) else [wanted]
    return str(value) in {str(choice) for choice in choices}
