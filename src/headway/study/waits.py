"""Waits of a page's servers before they answer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration


class Drawn(StrEnum):
    """Who has the same draws."""

    REPETITION = "repetition"
    """All contenders of a repetition: what differs between them is not the draw."""
    VERSION = "version"
    """Each version of HTTP has its own, like visits at different times."""


class Waits(Part):
    """What the application behind a page's servers takes for each response, whatever others it has to make.

    HAR calls this ``wait``, browsers "waiting for server response". With a spread it is log-normally
    distributed, drawn for each resource and repetition.
    """

    median: Duration = Field(description="of all resources; without a spread each takes this")
    spread: float = Field(
        default=0,
        ge=0,
        le=3,
        description="standard deviation of the logarithm: with 1, two thirds are between 0.37 and 2.7 times the median",
    )
    document: Duration | None = Field(
        default=None,
        exclude_if=lambda document: document is None,
        description="of the page's document, which is made anew where others are at hand; without it as of others",
    )
    drawn: Drawn = Field(
        default=Drawn.REPETITION,
        description="repetition: all contenders have the same draws; version: each version of HTTP has its own, "
        "like visits at different times",
    )

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if not self.median:
            raise wrong("median", "servers that take no time need no waits: leave them out")
        if self.drawn is Drawn.VERSION and not self.spread:
            raise wrong(
                "drawn", "without a spread nothing is drawn: leave it out, or state a spread"
            )
        return self

    def seed(self, repetition: int, versions: Iterable[str]) -> str:
        """What draws are made by.

        Args:
            repetition: its seed.
            versions: of HTTP that the server offers.
        """
        own = sorted(versions) if self.drawn is Drawn.VERSION else ()
        return " ".join((str(repetition), *own))

    def __str__(self) -> str:
        by = f" by {self.drawn}" if self.drawn is Drawn.VERSION else ""
        first = f", document {self.document}" if self.document is not None else ""
        spread = f", spread {self.spread:g}{by}" if self.spread else ""
        return f"{self.median}{spread}{first}"
