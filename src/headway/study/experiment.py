"""The study: experiments, each a grid of cells in which contenders are compared."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from headway.study.model import Setting
from headway.study.part import Part
from headway.study.profiles import realise
from headway.study.units import Duration

NAME = r"^[a-z0-9][a-z0-9-]*$"
"""What studies and experiments may be called: their names are parts of file names."""
USUAL_BASELINE = "h2"

Coordinates = dict[str, Any]
"""Values of the axes, by dotted name, at a cell."""


class Metric(StrEnum):
    """A measured column that contenders are compared by."""

    TOTAL = "total_s"
    TTFB = "ttfb_s"
    CONNECT = "connect_s"
    TLS = "tls_s"
    GOODPUT = "goodput_mbit"
    RAMP = "ramp_s"
    SLOW_START = "slow_start_s"
    RESPONSE_START = "response_start_s"
    FCP = "fcp_s"
    LCP = "lcp_s"
    DCL = "dcl_s"
    ONLOAD = "onload_s"
    PLT = "plt_s"
    SPEED_INDEX = "speed_index_s"
    VC85 = "vc85_s"
    VC95 = "vc95_s"
    VC99 = "vc99_s"
    BYTE_INDEX = "byte_index_s"

    @property
    def units(self) -> tuple[str, ...]:
        """Units that its values are published in, its own first."""
        return ("Mbit/s",) if self is Metric.GOODPUT else ("s", "ms")


_OF_PAGES = (Metric.PLT, Metric.FCP, Metric.SPEED_INDEX)
"""What pages are compared by, unless a study says otherwise."""


class Published(Part):
    """A value that somebody published, to stand beside ours.

    Without ``against`` it is the contender's value; with it, the relative difference in percent
    between the contender and another one.
    """

    contender: str
    against: str | None = None
    where: dict[str, Any] = Field(
        default_factory=dict, description="the cell: a value for every axis"
    )
    metric: Metric = Metric.TOTAL
    at: Duration | None = Field(
        default=None, description="of goodput: in the second around this time of bulk flows"
    )
    value: float
    unit: str = "s"
    source: str
    why: str = Field(default="", description="why ours differs, if it does")

    @model_validator(mode="after")
    def _unit_fits(self) -> Self:
        units = ("%",) if self.against else self.metric.units
        if self.unit not in units:
            wanted = " or ".join(map(repr, units))
            raise ValueError(f"the unit must be {wanted}, not {self.unit!r}")
        return self

    @model_validator(mode="after")
    def _only_goodput_is_of_a_time(self) -> Self:
        if self.at is not None and self.metric is not Metric.GOODPUT:
            raise ValueError(f"only {Metric.GOODPUT} has values at a time, not {self.metric}")
        return self


class Experiment(Part):
    """A grid of cells, in each of which contenders are compared."""

    name: str = ""
    question: str = ""
    repetitions: int = Field(default=1, ge=1)
    contenders: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="by name, the settings that make a contender"
    )
    baseline: str = Field(default="", description="the contender that others are compared with")
    comparisons: tuple[tuple[str, str], ...] = Field(
        default=(), description="pairs [contender, against]; all against the baseline if not given"
    )
    metrics: tuple[Metric, ...] = Field(default=(Metric.TOTAL,), min_length=1)
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
    conditions: dict[str, Any] = Field(
        default_factory=dict, description="the rest of the setting, as written in the file"
    )

    @model_validator(mode="before")
    @classmethod
    def _contenders_from_protocols(cls, value: Any) -> Any:
        """The axis ``protocol`` is the simple form of contenders."""
        if not isinstance(value, dict) or not isinstance(value.get("axes", {}), dict):
            return value
        axes = dict(value.get("axes", {}))
        protocols = axes.pop("protocol", None)
        if protocols is None:
            if value.get("contenders"):
                return value
            only = str(value.get("conditions", {}).get("protocol", USUAL_BASELINE))
            return value | {"contenders": {only: {}}}
        if value.get("contenders"):
            raise ValueError(
                "the contenders say which protocols are compared; leave out the axis protocol"
            )
        _check_axis("protocol", protocols)
        return value | {
            "axes": axes,
            "contenders": {str(protocol): {"protocol": protocol} for protocol in protocols},
        }

    @model_validator(mode="before")
    @classmethod
    def _usual_metrics_of_pages(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "metrics" in value:
            return value
        pages = _pages(value)
        if not pages:
            return value
        painted = all(page.get("frames", True) for page in pages)
        usual = [metric for metric in _OF_PAGES if painted or metric is not Metric.SPEED_INDEX]
        return value | {"metrics": tuple(usual)}

    @field_validator("axes")
    @classmethod
    def _axes_have_values(cls, axes: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        for name, values in axes.items():
            _check_axis(name, values)
        return axes

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        known = ", ".join(self.contenders)
        pairs = [name for pair in self.comparisons for name in pair]
        others = [one.against for one in self.published if one.against]
        for name in (*pairs, *(one.contender for one in self.published), *others):
            if name not in self.contenders:
                raise ValueError(f"{name!r} is not a contender; contenders: {known}")
        if self.baseline and self.baseline not in self.contenders:
            raise ValueError(f"baseline {self.baseline!r} is not a contender; contenders: {known}")
        return self

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
        crossed = [
            dict(zip(self.axes, values, strict=True))
            for values in itertools.product(*self.axes.values())
        ]
        only_explicit = self.cells and not self.axes
        for coordinates in (*self.cells,) if only_explicit else (*crossed, *self.cells):
            if not self.excludes(coordinates):
                yield dict(coordinates)

    def excludes(self, coordinates: Mapping[str, Any]) -> bool:
        """Whether a cell, or a contender in it (as coordinate ``contender``), is left out."""
        return any(
            all(
                key in coordinates and _is_one_of(coordinates[key], value)
                for key, value in rule.items()
            )
            for rule in self.exclude
        )

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
        raw = copy.deepcopy(self.conditions)
        for dotted, value in coordinates.items():
            _put(raw, dotted.split("."), value)
        merge(raw, self.contenders[contender])
        return Setting.model_validate(realise(raw, seed))


class Study(Part):
    """A question, and the experiments that answer it."""

    name: str = Field(pattern=NAME)
    question: str = ""
    seed: int = Field(default=1, ge=0, lt=2**32, description="seed of the first repetition")
    experiments: tuple[Experiment, ...] = Field(min_length=1)


def _pages(experiment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The workloads of an experiment, as written in the file, if all of them are pages."""
    axes, conditions = experiment.get("axes"), experiment.get("conditions")
    varied = axes.get("workload") if isinstance(axes, dict) else None
    usual = [conditions.get("workload")] if isinstance(conditions, dict) else []
    workloads = varied if isinstance(varied, list | tuple) else usual
    found = [one for one in workloads if isinstance(one, dict) and one.get("kind") == "page"]
    return found if len(found) == len(workloads) else []


def _check_axis(name: str, values: Any) -> None:
    if not values:
        raise ValueError(f"axis {name} has no values")
    if len({str(value) for value in values}) < len(values):
        raise ValueError(f"axis {name} has a value twice")


def _is_one_of(value: Any, wanted: Any) -> bool:
    choices = wanted if isinstance(wanted, list) else [wanted]
    return str(value) in {str(choice) for choice in choices}


def _put(raw: dict[str, Any], keys: list[str], value: Any) -> None:
    *tables, last = keys
    for table in tables:
        if not isinstance(raw.get(table), dict):
            raw[table] = {}
        raw = raw[table]
    raw[last] = value


def merge(raw: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Put changes into a table: tables are merged, everything else is replaced.

    Knobs are those of a program: with another one, they go.
    """
    if "program" in raw and changes.get("program", raw["program"]) != raw["program"]:
        raw.pop("knobs", None)
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(raw.get(key), dict):
            merge(raw[key], value)
        else:
            raw[key] = copy.deepcopy(value)
