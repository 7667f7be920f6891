"""Repetitions of each run: a number, or until what is compared is known well enough."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from headway.errors import counted
from headway.study.base_model import Part, wrong
from headway.study.tomlvalue import as_toml
from headway.study.units import Ratio

ERROR = 0.05
"""How often an interval may miss, all looks at the results together."""


class Repetitions(Part):
    """How often each run is repeated. A file may write a number: so often.

    With ``until``, results are looked at after fixed numbers of repetitions, the looks, and a cell goes on to the
    next one until its intervals are narrow enough.
    """

    other_forms = ({"type": "integer", "minimum": 1},)

    until: Ratio | None = Field(
        default=None,
        gt=0,
        description="how far intervals may reach to either side of their estimates",
    )
    most: int = Field(
        default=1, ge=1, le=10**9, description="how many repetitions there are at most"
    )
    least: int | None = Field(
        default=None, ge=1, description="how many there are before the first look"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        if isinstance(value, Repetitions):
            return value
        if not isinstance(value, dict):
            return {"most": _number(value)}
        for key, example in (("until", '"5 %"'), ("most", "40")):
            if value.get(key) is None:
                raise wrong(key, f"is missing; write {key} = {example}, or repetitions = 10")
        return value

    @model_validator(mode="after")
    def _can_stop(self) -> Self:
        if self.until is None:
            return self
        fewest = _fewest(self.most)
        if fewest is None:
            raise wrong(
                "most",
                f"{self.most} is too few: no interval of fewer than {_pairs(ERROR)} repetitions has 95 %",
            )
        if self.least is None:
            return self
        if self.least > self.most:
            raise wrong("least", f"{self.least} is more than most, {self.most}")
        if not _is_usable(self.least, self.most):
            looks = counted(len(_looks(self.least, self.most)), "look")
            raise wrong(
                "least",
                f"{self.least} is too few: no interval of so few repetitions has 95 % for {looks} at them together; "
                f"{fewest} is the least, and the default",
            )
        return self

    @model_serializer(mode="wrap")
    def _to_number(self, usual: SerializerFunctionWrapHandler) -> Any:
        return self.most if self.until is None else usual(self)

    def looks(self, step: int = 1) -> tuple[int, ...]:
        """After how many repetitions there is a look at the results, the last one at the end.

        Each look comes half as many repetitions again after the one before. The first one comes when an interval
        has its level although there are so many looks.

        Args:
            step: of how many repetitions looks are multiples, since so many are carried out together.
        """
        if self.until is None:
            return (self.most,)
        first = self.least or _fewest(self.most)
        assert first
        return _looks(first, self.most, step)


def _number(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"must be a whole number, not {as_toml(value)}")
    if value < 1:
        raise ValueError(f"must be 1 or more, not {value}")
    return value


def _fewest(most: int) -> int | None:
    """After how many repetitions the first look is of use; None if none is."""
    return next((n for n in range(1, most + 1) if _is_usable(n, most)), None)


def _is_usable(first: int, most: int) -> bool:
    """Whether an interval of so many repetitions has its level among all looks."""
    return first >= _pairs(ERROR / len(_looks(first, most)))


def _looks(first: int, most: int, step: int = 1) -> tuple[int, ...]:
    numbers = (-(-n // step) * step for n in itertools.takewhile(most.__gt__, _growing(first)))
    return (*dict.fromkeys(n for n in numbers if n < most), most)


def _growing(first: int) -> Iterator[int]:
    while True:
        yield first
        first = max(first + 1, first * 3 // 2)


def _pairs(error: float) -> int:
    """The fewest pairs of which an interval misses no oftener: a sign for all of them has 2 to the power 1 - n."""
    return next(n for n in itertools.count(1) if 2.0 ** (1 - n) <= error)


ONCE = Repetitions.model_validate(1)
"""Each run is carried out once."""
