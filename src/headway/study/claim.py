"""Claims: what somebody wrote of contenders, as rules that runs can hold, break or leave open."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from operator import not_
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from headway.overriding import override
from headway.study.axisnames import AxisName
from headway.study.base_model import wrong
from headway.study.cause import ClaimedCause
from headway.study.published import RELATIVE_UNIT, AboutCells, MetricName, Statistic, Timed
from headway.study.rule import ColumnName, Pair, Rule, check_range
from headway.study.siterules import ColumnPair, SiteMedian, SiteShare

USUAL_TOLERANCE = 0.15
"""How far from a published value, as a share of it, ours may lie if nothing else is said."""
FEWEST_CELLS = 6
"""Of fewer cells, the typical one has no interval of 95 %."""
FEWEST_POINTS = 4
"""Of fewer cells, a correlation has no interval: a resample often has two different ones only."""
_OF_MEANS = "`mean`: of the means; by default, the typical one of pairs of runs"


class Order(Rule):
    """Each of these contenders is better than the next."""

    kind: Literal["order"]
    contenders: tuple[str, ...] = Field(min_length=2, description="the best one first")
    statistic: Literal[Statistic.MEAN] | None = Field(default=None, description=_OF_MEANS)

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return self.contenders


class Gap(Pair):
    """A difference, contender against the other: a published one, or a range."""

    kind: Literal["difference"]
    value: float | None = Field(default=None, description="as published")
    low: float | None = Field(default=None, description="at least")
    high: float | None = Field(default=None, description="at most")
    unit: str = Field(
        default=RELATIVE_UNIT,
        description="unit of these values: percent of the other's, or the metric's own",
    )
    statistic: Literal[Statistic.MEAN] | None = Field(default=None, description=_OF_MEANS)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(self.value, self.low, self.high)
        if self.statistic and self.unit != RELATIVE_UNIT:
            raise ValueError(f"statistic is for differences in {RELATIVE_UNIT}")
        return self


class Equal(Pair):
    """Two contenders do not differ by more than this."""

    kind: Literal["equal"]
    within: float = Field(gt=0, description="in percent")
    statistic: Literal[Statistic.MEAN] | None = Field(default=None, description=_OF_MEANS)


class Spread(Pair):
    """How widely a contender's runs scatter, as a ratio to how widely the other's do."""

    kind: Literal["spread"]
    low: float | None = Field(default=None, ge=0, description="at least")
    high: float | None = Field(default=None, gt=0, description="at most")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(None, self.low, self.high)
        return self


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
        check_range(self.value, self.low, self.high)
        return self


class Quantile(Rule):
    """A percentile of a contender's own runs: a range, in the metric's unit."""

    kind: Literal["quantile"]
    contender: str
    at: float = Field(gt=0, lt=100, description="the percentile, such as 75")
    low: float | None = Field(default=None, description="at least")
    high: float | None = Field(default=None, description="at most")

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return (self.contender,)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(None, self.low, self.high)
        return self


class Trend(StrEnum):
    """Which way something goes."""

    RISING = "rising"
    FALLING = "falling"


class _Course(Rule):
    contender: str
    against: str | None = Field(
        default=None, description="makes the rule one about the relative difference of the two"
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
    """Over the cells, the metric rises (or falls) with an axis whose values are quantities.

    Or with a column of the contender's own runs, as the size of a page: its median in each cell.
    """

    kind: Literal["correlation"]
    axis: str | None = None
    column: ColumnName | None = None
    trend: Trend

    @model_validator(mode="after")
    def _along_one(self) -> Self:
        if (self.axis is None) == (self.column is None):
            raise ValueError("needs an axis or a column, not both")
        return self


class CellCounts(Pair):
    """At how many more cells a contender is better than another than it is worse, each by more than this."""

    kind: Literal["counts"]
    beyond: float = Field(ge=0, description="in percent of the other's median")
    low: float | None = Field(
        default=None, ge=-100, lt=100, description="more than, in percent of the cells"
    )
    high: float | None = Field(default=None, gt=-100, le=100, description="less than, likewise")
    axis: str = Field(
        default="workload.site", description="the axis in which the counted cells differ"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(None, self.low, self.high)
        return self


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
    Order
    | Gap
    | Equal
    | Spread
    | Value
    | Quantile
    | Monotone
    | Correlation
    | CellCounts
    | Failures
    | SiteShare
    | SiteMedian
    | ColumnPair,
    Field(discriminator="kind"),
]


RULES = (
    "order",
    "difference",
    "equal",
    "spread",
    "value",
    "quantile",
    "monotone",
    "correlation",
    "counts",
    "failures",
    "sites",
    "delta",
    "columns",
)
"""Their kinds."""


class Claim(Timed, AboutCells):
    """A sentence of a paper, and what our runs have to show for it to hold.

    Of goodput it may be about an interval of time.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    says: str = Field(min_length=1, description="the sentence, in our words")
    place: str = Field(default="", description="where it stands in the paper, if it is of one")
    rule: AnyRule
    metric: MetricName | None = Field(
        default=None, description="one of the experiment's metrics; by default its first"
    )
    share: float = Field(
        default=100,
        gt=0,
        le=100,
        description="in how many of these cells it has to hold, in percent",
    )
    over: str | None = Field(
        default=None,
        description="an axis, such as workload.site; the claim is about the typical one of the cells that differ in it alone",
    )
    strata: tuple[str, ...] = Field(
        default=(),
        exclude_if=not_,
        description="strata of the population whose sites it is about; all if none is named",
    )
    because: ClaimedCause | None = Field(
        default=None, description="the reason that it gives for a difference of two contenders"
    )
    nearby: tuple[AxisName, ...] = Field(
        default=(),
        exclude_if=not_,
        description="axes of neighbours over which it is meant, and has to hold as well",
    )
    why: str = Field(default="", description="the reason why it does not hold, if it is known")

    @property
    def named(self) -> tuple[str, ...]:
        """The contenders that it is about, those without a cause included."""
        return self.rule.named + (tuple(self.because.without.values()) if self.because else ())

    def axes(self) -> Iterator[str]:
        """The axes that it names."""
        yield from self.where
        if self.over is not None:
            yield self.over
        if (
            isinstance(self.rule, Monotone | Correlation | CellCounts)
            and self.rule.axis is not None
        ):
            yield self.rule.axis

    @model_validator(mode="after")
    def _cause_is_of_a_difference(self) -> Self:
        if self.because is None or not self.because.without:
            return self
        if not isinstance(self.rule, Order | Gap | Monotone) or len(self.rule.named) < 2:
            raise ValueError(
                "because is for the rules order, difference, and monotone with against"
            )
        for name, bare in self.because.without.items():
            if name not in self.rule.named:
                raise ValueError(f"because.without names {name!r}, which the rule does not")
            if bare in self.rule.named:
                raise ValueError(f"because.without has {bare!r}, which the rule itself is about")
        return self

    @model_validator(mode="after")
    def _neighbours_have_a_difference(self) -> Self:
        if not self.nearby:
            return self
        if not isinstance(self.rule, Order | Gap | Equal):
            raise wrong("nearby", "is for the rules order, difference and equal")
        if self.over is not None or self.span is not None:
            raise wrong(
                "nearby",
                "is about single cells and whole runs; leave out over, from, to and origin",
            )
        return self

    @model_validator(mode="after")
    def _failures_have_no_time(self) -> Self:
        if self.span is not None and isinstance(self.rule, Failures):
            raise ValueError("from, to and origin are for goodput; a run fails as a whole")
        return self

    @model_validator(mode="after")
    def _typical_cells_can_be_told(self) -> Self:
        if self.over is None:
            return self
        if not isinstance(self.rule, Order | Gap | Equal | Monotone | Value):
            raise ValueError("over is for the rules order, difference, equal, value and monotone")
        if isinstance(self.rule, Monotone):
            if self.rule.axis == self.over:
                raise ValueError(f"has steps along {self.over}, so over cannot be {self.over}, too")
        elif self.rule.statistic and not isinstance(self.rule, Value):
            raise ValueError("over takes the typical cell; leave out statistic")
        if self.span is not None:
            raise ValueError("over is about whole runs; leave out from, to and origin")
        return self
