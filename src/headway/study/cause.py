"""Causes: what a claim says is the reason of a difference."""

from __future__ import annotations

from pydantic import Field

from headway.study.base_model import Part

USUAL_REST = 50.0
"""Percent of a difference that may be left without its cause, if nothing else is said."""


class ClaimedCause(Part):
    """The reason of a difference, judged by taking it away."""

    what: str = Field(min_length=1, description="the cause, in your words")
    without: dict[str, str] = Field(
        min_length=1,
        description="contenders of the rule, each with a substitute that lacks the cause",
    )
    leaves: float = Field(
        default=USUAL_REST,
        ge=0,
        lt=100,
        description="the most of the difference that may be left without the cause, in percent",
    )
