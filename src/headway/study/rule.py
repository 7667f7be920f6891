"""The base of rules of claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from headway.columns import Record, columns_of
from headway.errors import nearest
from headway.overriding import override
from headway.study.base_model import Part


def _is_number(name: str) -> str:
    known = [
        text
        for text, it in columns_of(Record).items()
        if it.kind in (int, float) and not it.several
    ]
    if name not in known:
        reason = f"{name!r} is not a column of numbers{nearest(name, known)}"
        raise PydanticCustomError("column", "{reason}", {"reason": reason})
    return name


ColumnName = Annotated[str, AfterValidator(_is_number)]
"""A column of runs that holds a number."""


class Rule(Part, ABC):
    """What a claim says of the data; in which cells and of which metric, the claim tells."""

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        twice = [name for name in self.named if self.named.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is compared with itself")
        return self

    @property
    @abstractmethod
    def named(self) -> tuple[str, ...]:
        """The contenders that it is about."""


class Pair(Rule):
    """A rule about two contenders."""

    contender: str
    against: str

    @property
    @override
    def named(self) -> tuple[str, ...]:
        return self.contender, self.against


def check_range(value: float | None, low: float | None, high: float | None) -> None:
    """Refuse what states neither a published value nor a range, or both.

    Raises:
        ValueError: why.
    """
    if value is not None and (low is not None or high is not None):
        raise ValueError("has a published value, or low and high, not both")
    if value is None and low is None and high is None:
        raise ValueError("needs a value, or low or high")
    if low is not None and high is not None and low >= high:
        raise ValueError("low must be below high")
