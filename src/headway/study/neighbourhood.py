"""The neighbourhood in which an answer is tried after its study: on which axes, and for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field, model_validator

from headway.errors import WrongInputError, counted, nearest
from headway.overriding import override
from headway.study.axisnames import AxisName
from headway.study.base_model import Part, wrong
from headway.study.units import Duration

_MINUTE_MS = 60_000
_MOST_MINUTES = 1_500
"""No duration of a study is longer."""


class Neighbourhood(Part):
    """What stands around a study's cells and is tried after it. A file may write ``true``: all of it, for as long again."""

    other_forms = ({"type": "boolean"},)

    time: Duration | None = Field(
        default=None,
        gt=0,
        description="how long that may take, by what labs take; by default as long as the study took",
    )
    runs: int | None = Field(default=None, ge=1, description="how many runs it may have")
    axes: tuple[AxisName, ...] = Field(default=(), description="the axes; by default all")
    without: tuple[AxisName, ...] = Field(default=(), description="axes that are left out")

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if self.axes and self.without:
            raise wrong("without", "leaves axes out of all of them; with axes, leave it out")
        if set(self.without) == set(AxisName):
            raise wrong("without", "leaves no axis")
        return self

    @property
    def chosen(self) -> tuple[AxisName, ...]:
        """The axes on which neighbours are tried."""
        return tuple(
            axis
            for axis in AxisName
            if axis not in self.without and axis in (self.axes or AxisName)
        )

    @override
    def __str__(self) -> str:
        """``on RTT and loss, for 2 min and 500 runs at most``."""
        some = f"on {', '.join(self.axes)}" if self.axes else "on all axes"
        but = f" but {', '.join(self.without)}" if self.without else ""
        limits = [
            *([str(self.time)] if self.time is not None else []),
            *([counted(self.runs, "run")] if self.runs is not None else []),
        ]
        most = f"for {' and '.join(limits)} at most" if limits else "for as long again"
        return f"{some}{but}, {most}"


def neighbourhood_from(value: Any) -> Any:
    """What a study file may write in the place of the table: ``true`` for all, ``false`` for nothing."""
    if isinstance(value, bool):
        return {} if value else None
    return value


EVERYWHERE = Neighbourhood()
"""On all axes, for as long as the study took."""


@dataclass(frozen=True)
class ArchivedNeighbourhood:
    """What somebody who tries neighbours says; what is None is as the study states it.

    Attributes:
        runs: how many runs it may have.
        minutes: how long it may take; with ``runs`` the whole budget.
        axes: what alone is varied; with ``without`` all that is said of axes.
        without: axes that are left out.
        prefix: what stands before these names where they are written.
    """

    runs: int | None = None
    minutes: float | None = None
    axes: Sequence[str] | None = None
    without: Sequence[str] | None = None
    prefix: str = ""

    def in_place_of(self, stated: Neighbourhood | None) -> Neighbourhood:
        """The neighbourhood that is wanted.

        Args:
            stated: what the study says; nothing if None.

        Raises:
            WrongInputError: there is no such axis, or no such time.
        """
        table = stated.model_dump(mode="json", exclude_none=True) if stated else {}
        if self.runs is not None or self.minutes is not None:
            table |= {"runs": self.runs, "time": self._time()}
        if self.axes or self.without:
            if self.axes and self.without:
                reason = f"leaves axes out of all of them; with {self.prefix}axes, leave it out"
                raise WrongInputError(reason, where=f"{self.prefix}without")
            table |= {"axes": self._named("axes"), "without": self._named("without")}
        return Neighbourhood.model_validate(table)

    def _time(self) -> str | None:
        if self.minutes is None:
            return None
        if not 0 < self.minutes <= _MOST_MINUTES:
            reason = f"must be a number above 0, and {_MOST_MINUTES} at most"
            raise WrongInputError(reason, where=f"{self.prefix}minutes")
        return f"{math.ceil(self.minutes * _MINUTE_MS)} ms"

    def _named(self, key: str) -> tuple[str, ...]:
        names = tuple(getattr(self, key) or ())
        known = list(AxisName)
        for name in names:
            if name not in known:
                there = nearest(name, known, then=f"axes: {', '.join(known)}")
                raise WrongInputError(f"{name!r} is no axis{there}", where=f"{self.prefix}{key}")
        return names


AS_STATED = ArchivedNeighbourhood()
