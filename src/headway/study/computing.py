"""Computing: the cost of a page's scripts, style sheets and documents on the main thread of its browser."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from headway.study.base_model import Part


class Costs(StrEnum):
    """Where costs are from."""

    RECORDED = "recorded"
    """The recording, as the browser that made it took them."""
    ALMANAC = "almanac"
    """A published distribution over the Web: scripts by their size."""


class Computing(Part):
    """Costs of the main thread, on a device that takes so many times as long."""

    other_forms = ({"type": "string", "enum": [str(cost) for cost in Costs]},)

    costs: Costs = Field(
        default=Costs.RECORDED,
        description="recorded: as the recording tells; almanac: scripts by their size, as the HTTP Archive's Almanac has it",
    )
    factor: float = Field(
        default=1,
        gt=0,
        le=100,
        description="how many times as long the device takes; Lighthouse's mobile device takes 4 times",
    )

    @model_validator(mode="before")
    @classmethod
    def _in_a_word(cls, value: Any) -> Any:
        return {"costs": value} if isinstance(value, str) else value

    def __str__(self) -> str:
        return str(self.costs) if self.factor == 1 else f"{self.costs} x{self.factor:g}"
