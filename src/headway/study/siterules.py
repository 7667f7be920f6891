"""Rules of claims about the sites of a network, each an observation."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from headway.overriding import override
from headway.study.rule import ColumnName, Pair, Rule, check_range


class SiteShare(Pair):
    """At how many sites the delta of two contenders is in a range: difference of medians over the larger of them."""

    kind: Literal["sites"]
    above: float | None = Field(default=None, ge=-1, lt=1, description="of the delta")
    below: float | None = Field(default=None, gt=-1, le=1, description="of the delta")
    value: float | None = Field(
        default=None, ge=0, le=100, description="as published, in percent of the sites"
    )
    low: float | None = Field(default=None, ge=0, lt=100, description="more than, likewise")
    high: float | None = Field(default=None, gt=0, le=100, description="less than, likewise")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(self.value, self.low, self.high)
        if self.above is None and self.below is None:
            raise ValueError("needs a range of the delta: above, below or both")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError("above must be less than below")
        return self


class SiteMedian(Pair):
    """The median over sites of the delta of two contenders."""

    kind: Literal["delta"]
    value: float | None = Field(default=None, description="as published")
    low: float | None = Field(default=None, description="at least")
    high: float | None = Field(default=None, description="at most")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(self.value, self.low, self.high)
        return self


class ColumnPair(Rule):
    """Pearson's correlation over sites of two columns of a contender's runs, by their medians."""

    kind: Literal["columns"]
    contender: str
    columns: tuple[ColumnName, ColumnName]
    value: float | None = Field(default=None, ge=-1, le=1, description="as published")
    low: float | None = Field(default=None, ge=-1, lt=1, description="at least")
    high: float | None = Field(default=None, gt=-1, le=1, description="at most")

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return (self.contender,)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        check_range(self.value, self.low, self.high)
        return self
