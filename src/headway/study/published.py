"""Published values: what somebody measured, to stand beside what we do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from headway.columns import METRICS
from headway.study.base_model import Part
from headway.study.units import Duration

GONE = (
    '`at` is now `from`, `to` and `origin`: at = "5 s" was from = "4.5 s", to = "5.5 s", '
    'origin = "start"'
)
"""What is said of a key that published values had."""


RELATIVE_UNIT = "%"
"""Unit of relative differences."""
UNITS = {"s": {"s": 1.0, "ms": 1e3}}
"""Units that values of a metric are published in, by its own, and how many of them make one."""
USUAL_METRIC, GOODPUT = "total_s", "goodput_mbit"


def _is_metric(value: object) -> object:
    if not isinstance(value, str) or value not in METRICS:
        known = {"expected": ", ".join(map(repr, METRICS))}
        raise PydanticCustomError("enum", "must be one of {expected}", known)
    return value


AskedMetric = Annotated[str, WithJsonSchema({"enum": [*METRICS]})]
"""The same as a study asks for it, which is checked where it is known what runs measure."""
MetricName = Annotated[str, BeforeValidator(_is_metric), WithJsonSchema({"enum": [*METRICS]})]
"""A column that contenders are compared by."""


class Statistic(StrEnum):
    """What a value is of the runs that were published; ours beside it is the same."""

    MEAN = "mean"
    MEDIAN = "median"


class TimeOrigin(StrEnum):
    """The zero of an interval of time in a run.

    ``start``: the client begins to connect. ``first byte``: it receives the first byte of payload,
    in each run at its own moment.
    """

    START = "start"
    FIRST_BYTE = "first byte"


@dataclass(frozen=True, order=True)
class RunInterval:
    """An interval of time in a run, in seconds from its origin."""

    from_s: float
    to_s: float
    origin: TimeOrigin

    def __str__(self) -> str:
        after = "" if self.origin is TimeOrigin.START else f" after the {self.origin}"
        return f"{self.from_s:g} to {self.to_s:g} s{after}"


class Timed(Part):
    """What may be of an interval of time in a run."""

    since: Duration | None = Field(
        default=None, alias="from", description="of goodput: start of the interval"
    )
    to: Duration | None = Field(default=None, description="and its end")
    origin: TimeOrigin | None = Field(default=None, description="what these times count from")

    @property
    def span(self) -> RunInterval | None:
        """The interval of time that it is of; None if it is of the whole transfer."""
        if self.since is None or self.to is None or self.origin is None:
            return None
        return RunInterval(self.since.s, self.to.s, self.origin)

    @model_validator(mode="after")
    def _interval_is_one(self) -> Self:
        given = [self.since, self.to, self.origin]
        if given == [None] * 3:
            return self
        if self.since is None or self.to is None or self.origin is None:
            known = " or ".join(f'"{origin}"' for origin in TimeOrigin)
            raise ValueError(f"from, to and origin (which is {known}) are given together")
        if self.to <= self.since:
            raise ValueError(f"to ({self.to}) must be later than from ({self.since})")
        return self


class AboutCells(Part):
    """What is about some cells of an experiment."""

    where: dict[str, Any] = Field(
        default_factory=dict,
        description="the cells: values of axes, one or a list of each; all cells if empty",
    )

    def is_about(self, coordinates: Mapping[str, Any]) -> bool:
        """Whether a cell is one of those that it is about."""
        return all(
            str(coordinates.get(axis))
            in {str(value) for value in (wanted if isinstance(wanted, list) else [wanted])}
            for axis, wanted in self.where.items()
        )


def no_time_of(metric: str) -> str:
    """What is said of an interval of time of a metric that has none."""
    return (
        f"from, to and origin are for {GOODPUT}, which has values over time; {metric} has one a run"
    )


class Published(Timed):
    """A value that somebody published, to stand beside ours.

    Without ``against`` it is the contender's value; with it, the relative difference in percent
    between the contender and another one. Of goodput it may be that of an interval of time.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    contender: str
    against: str | None = None
    where: dict[str, Any] = Field(
        default_factory=dict, description="the cell: a value for every axis"
    )
    metric: MetricName = USUAL_METRIC
    statistic: Statistic = Statistic.MEAN
    value: float
    unit: str = "s"
    n: int | None = Field(default=None, ge=1, description="number of published runs")
    sd: float | None = Field(default=None, ge=0, description="standard deviation of these runs")
    q1: float | None = Field(default=None, description="lower quartile")
    q3: float | None = Field(default=None, description="upper quartile")
    source: str
    why: str = Field(default="", description="why ours differs, if it does")

    @property
    def quartiles(self) -> tuple[float, float] | None:
        """The lower and the upper one; None if they were not published."""
        return None if self.q1 is None or self.q3 is None else (self.q1, self.q3)

    @model_validator(mode="before")
    @classmethod
    def _no_single_time(cls, value: Any) -> Any:
        if isinstance(value, dict) and "at" in value:
            raise ValueError(GONE)
        return value

    @field_validator("value", "sd", "q1", "q3")
    @classmethod
    def _is_finite(cls, value: float | None) -> float | None:
        if value is not None and not abs(value) < float("inf"):
            raise ValueError(f"must be a number, not {value}")
        return value

    @model_validator(mode="after")
    def _unit_fits(self) -> Self:
        own = METRICS[self.metric].unit
        units = [RELATIVE_UNIT] if self.against else [*UNITS.get(own, {own: 1.0})]
        if self.unit not in units:
            wanted = " or ".join(map(repr, units))
            raise ValueError(f"the unit must be {wanted}, not {self.unit!r}")
        return self

    @model_validator(mode="after")
    def _interval_is_of_goodput(self) -> Self:
        if (self.since or self.to or self.origin) and self.metric != GOODPUT:
            raise ValueError(no_time_of(self.metric))
        return self

    @model_validator(mode="after")
    def _spread_is_the_statistics(self) -> Self:
        if self.sd is not None and self.statistic is not Statistic.MEAN:
            raise ValueError("sd is the spread of a mean; a median has q1 and q3")
        if (self.q1 is None) != (self.q3 is None):
            raise ValueError("q1 and q3 are given together")
        if self.q1 is None or self.q3 is None:
            return self
        if self.statistic is not Statistic.MEDIAN:
            raise ValueError("q1 and q3 are the spread of a median; a mean has sd")
        if not self.q1 <= self.value <= self.q3:
            raise ValueError(f"the median ({self.value:g}) must lie between q1 and q3")
        return self


class Explanation(Part):
    """What an experiment changes of another one, whose missed values its runs explain where they meet them."""

    experiment: str = Field(description="the one whose published values it explains")
    what: str = Field(min_length=1, description="what is changed, as a noun")


class Reason(AboutCells):
    """Why published values differ from ours, said once for several of them."""

    contenders: tuple[str, ...] = Field(
        default=(), description="the contenders whose values they are; by default all"
    )
    metric: MetricName | None = Field(
        default=None, description="the metric of the values; by default any"
    )
    why: str = Field(min_length=1, description="why ours differ, where they do")

    def explains(self, published: Published) -> bool:
        """Whether a published value is one of those that it is about."""
        return (
            (not self.contenders or published.contender in self.contenders)
            and self.metric in (None, published.metric)
            and self.is_about(published.where)
        )
