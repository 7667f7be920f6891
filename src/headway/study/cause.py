"""Causes: what a claim says is the reason of a difference."""

from __future__ import annotations

from operator import not_
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part

USUAL_REST = 50.0
"""Percent of a difference that may be left without its cause, if nothing else is said."""


class ClaimedCause(Part):
    """The reason of a difference: judged by taking it away, or named with what keeps that from being tried."""

    what: str = Field(min_length=1, description="the cause, in your words")
    without: dict[str, str] = Field(
        default_factory=dict,
        description="contenders of the rule, each with a substitute that lacks the cause",
    )
    note: str = Field(
        default="",
        exclude_if=not_,
        description="instead of substitutes, which experiment takes the cause away, or why none does",
    )
    leaves: float = Field(
        default=USUAL_REST,
        ge=0,
        lt=100,
        description="the most of the difference that may be left without the cause, in percent",
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.without) == bool(self.note):
            raise ValueError(
                "needs without, the substitutes that lack the cause, or a note, which says why there are none"
            )
        return self
