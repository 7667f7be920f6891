"""Claims: what somebody wrote of contenders, as rules that runs can hold, break or leave open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from headway.study.part import Part
from headway.study.published import MetricName, Statistic

USUAL_TOLERANCE = 0.15
"""How far from a published value, as a share of it, ours may lie if nothing else is said."""


class Rule(Part, ABC):
    """What a claim says of the data; in which cells and of which metric, the claim tells."""

    @property
    @abstractmethod
    def named(self) -> tuple[str, ...]:
        """The contenders that it is about."""


class Order(Rule):
    """Each of these contenders is better than the next."""

    kind: Literal["order"]
    contenders: tuple[str, ...] = Field(min_length=2, description="the best one first")

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return self.contenders


class _Pair(Rule):
    contender: str
    against: str

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return self.contender, self.against


class Gap(_Pair):
    """A relative difference in percent, contender against the other: a published one, or a range."""

    kind: Literal["difference"]
    value: float | None = Field(default=None, description="as published, in percent")
    low: float | None = Field(default=None, description="at least, in percent")
    high: float | None = Field(default=None, description="at most, in percent")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        _check_range(self.value, self.low, self.high)
        return self


class Equal(_Pair):
    """Two contenders do not differ by more than this."""

    kind: Literal["equal"]
    within: float = Field(gt=0, description="in percent")


class Value(Rule):
    """A contender's own value: a published one, or a range, in the metric's unit."""

    kind: Literal["value"]
    contender: str
    value: float | None = Field(default=None, description="as published")
    low: float | None = Field(default=None, description="at least")
    high: float | None = Field(default=None, description="at most")
    statistic: Statistic = Statistic.MEAN

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return (self.contender,)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        _check_range(self.value, self.low, self.high)
        return self


class Trend(StrEnum):
    """Which way something goes."""

    RISING = "rising"
    FALLING = "falling"


class _Course(Rule):
    contender: str
    against: str | None = Field(
        default=None, description="then it is about the relative difference of the two"
    )

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return (self.contender, self.against) if self.against else (self.contender,)


class Monotone(_Course):
    """The metric only rises, or only falls, from value to value of an axis, in the study's order."""

    kind: Literal["monotone"]
    axis: str
    trend: Trend


class Correlation(_Course):
    """Over the cells, the metric rises (or falls) with an axis whose values are quantities."""

    kind: Literal["correlation"]
    axis: str
    trend: Trend


class Failures(Rule):
    """The share of a contender's runs that failed or were given up, over all cells together."""

    kind: Literal["failures"]
    contender: str
    low: float = Field(default=0, ge=0, le=100, description="at least, in percent")
    high: float = Field(default=100, ge=0, le=100, description="at most, in percent")

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return (self.contender,)

    @model_validator(mode="after")
    def _can_be_broken(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        if (self.low, self.high) == (0, 100):
            raise ValueError("needs low or high: any share is from 0 to 100 %")
        return self


AnyRule = Annotated[
    Order | Gap | Equal | Value | Monotone | Correlation | Failures, Field(discriminator="kind")
]


RULES = ("order", "difference", "equal", "value", "monotone", "correlation", "failures")
"""Their kinds."""


class Claim(Part):
    """A sentence of a paper, and what our runs have to show for it to hold."""

    says: str = Field(min_length=1, description="the sentence, in our words")
    place: str = Field(min_length=1, description="where it stands in the paper")
    rule: AnyRule
    metric: MetricName | None = Field(
        default=None, description="one of the experiment's; its first if not given"
    )
    where: dict[str, Any] = Field(
        default_factory=dict,
        description="the cells: values of axes, one or a list of each; all cells if empty",
    )
    share: float = Field(
        default=100, gt=0, le=100, description="of these cells, in which it holds, in percent"
    )
    why: str = Field(
        default="", description="what is known of why it does not hold, if it does not"
    )

    def is_about(self, coordinates: Mapping[str, Any]) -> bool:
        """Whether a cell is one of those that it is about."""
        return all(
            str(coordinates.get(axis))
            in {str(one) for one in (wanted if isinstance(wanted, list) else [wanted])}
            for axis, wanted in self.where.items()
        )

    def axes(self) -> Iterator[str]:
        """The axes that it names."""
        yield from self.where
        if isinstance(self.rule, Monotone | Correlation):
            yield self.rule.axis


def _check_range(value: float | None, low: float | None, high: float | None) -> None:
    if value is not None and (low is not None or high is not None):
        raise ValueError("has a published value, or low and high, not both")
    if value is None and low is None and high is None:
        raise ValueError("needs a value, or low or high")
    if low is not None and high is not None and low >= high:
        raise ValueError("low must be below high")
