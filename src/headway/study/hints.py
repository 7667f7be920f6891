"""Hints of a page's document: Link fields that name what the page will need (RFC 8288; HTML, "Link types")."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part


class Destination(StrEnum):
    """What a resource is loaded for, as a link's attribute ``as`` names it (Fetch, "destination")."""

    STYLE = "style"
    SCRIPT = "script"
    FONT = "font"
    IMAGE = "image"


class Hints(Part):
    """Link fields that a page's document has beside those that were recorded."""

    preload: tuple[Destination, ...] = Field(
        default=(),
        description="kinds of resources of which each is named by a link rel=preload: style, script, font, image",
    )
    most: int | None = Field(
        default=None, ge=1, description="how many of them at most, the first ones; without it all"
    )
    preconnect: bool = Field(
        default=False, description="whether other hosts are named by links rel=preconnect"
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.preload and not self.preconnect:
            raise ValueError("state preload or preconnect: without them no field is added")
        if self.most is not None and not self.preload:
            raise ValueError("most is of preload: state that")
        return self

    def __str__(self) -> str:
        first = f"the first {self.most} of " if self.most else ""
        preloads = f"preload {first}{', '.join(self.preload)}" if self.preload else ""
        return ", ".join(filter(None, (preloads, "preconnect" if self.preconnect else "")))
