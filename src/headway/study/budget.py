"""Budgets: what a metric may be at most, or how much more than another contender's; each is a claim to be judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from headway.columns import METRICS
from headway.columns.column import Column
from headway.study.base_model import Part, wrong
from headway.study.claim import Claim, Gap, Quantile, Value
from headway.study.published import RELATIVE_UNIT, Statistic
from headway.study.units import Duration, Rate, Ratio, Size, UnitError

_PERCENTILE = r"^(mean|median|p[1-9][0-9]?)$"
_QUANTITIES: dict[str, tuple[type[Duration | Rate | Size | Ratio], float]] = {
    "s": (Duration, 1e-9),
    "ms": (Duration, 1e-6),
    "Mbit/s": (Rate, 1e-6),
    "bytes": (Size, 1),
    "%": (Ratio, 100),
}
"""How quantities are written of metrics in a unit, and what makes them numbers of it."""


class MetricBudget(Part):
    """What a metric has to be; or, with ``against``, its difference from another contender's, in percent."""

    most: str | float | None = Field(default=None, description="at most this")
    least: str | float | None = Field(default=None, description="at least this")
    at: str = Field(
        default="median",
        pattern=_PERCENTILE,
        description="of the runs of a cell: median, mean, or a percentile such as p75",
    )
    of: str | tuple[str, ...] = Field(
        default=(), description="contenders; by default all, but the one of `against`"
    )
    against: str | None = Field(
        default=None, description="a contender: the limit is of the difference from it, such as 5 %"
    )
    where: dict[str, Any] = Field(
        default_factory=dict, description="cells by values of axes; by default all"
    )

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.most is None and self.least is None:
            raise ValueError('needs "most" or "least"')
        if self.against is not None and self.at != "median":
            raise wrong(
                "at",
                "a difference from another contender is the typical one of pairs of runs: leave it out",
            )
        return self

    def claims(self, metric: str, contenders: Sequence[str]) -> Iterator[Claim]:
        """What has to hold, a claim for each contender.

        Args:
            metric: the column.
            contenders: of the experiment.

        Raises:
            PydanticCustomError: a limit is no value of the metric.
        """
        column = METRICS[metric]
        stated = (self.of,) if isinstance(self.of, str) else self.of
        for contender in stated or [text for text in contenders if text != self.against]:
            yield Claim(
                says=self._sentence(column, contender),
                metric=metric,
                where=self.where,
                rule=self._rule(column, contender),
            )

    def _rule(self, column: Column, contender: str) -> Gap | Quantile | Value:
        low, high = (
            None if limit is None else self._number(key, limit, column)
            for key, limit in (("least", self.least), ("most", self.most))
        )
        if self.against is not None:
            return Gap(
                kind="difference",
                contender=contender,
                against=self.against,
                low=low,
                high=high,
                unit=RELATIVE_UNIT,
            )
        if self.at.startswith("p"):
            return Quantile(
                kind="quantile", contender=contender, at=int(self.at[1:]), low=low, high=high
            )
        statistic = Statistic(self.at)
        return Value(kind="value", contender=contender, low=low, high=high, statistic=statistic)

    def _number(self, key: str, limit: str | float, column: Column) -> float:
        unit = "%" if self.against is not None else column.unit
        if unit not in _QUANTITIES:
            if isinstance(limit, str):
                raise wrong(key, f"{column.name} has no unit: write a number, such as 0.1")
            return limit
        kind, factor = _QUANTITIES[unit]
        if not isinstance(limit, str):
            raise wrong(key, f'{limit:g} has no unit, such as "{limit:g} {unit}"')
        try:
            return float(kind.parse(limit)) * factor
        except UnitError as error:
            raise wrong(key, str(error)) from None

    def _sentence(self, column: Column, contender: str) -> str:
        ranking = column.ranking
        name = ranking.heading if ranking else column.name
        limits = " and ".join(
            f"{words} {limit}"
            for words, limit in (("at least", self.least), ("at most", self.most))
            if limit is not None
        )
        if self.against is not None:
            return f"budget: {name} of {contender} {limits} more than that of {self.against}"
        return f"budget: {name} of {contender}, {self.at}, {limits}"
