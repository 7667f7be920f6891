"""ECN fields that a link changes: bleached, or another codepoint written into them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from headway.study.base_model import Part
from headway.study.units import Duration


class Codepoint(StrEnum):
    """What the ECN field of a packet says (RFC 3168, section 5; RFC 9331, section 2)."""

    NOT_ECT = "not-ect"
    ECT0 = "ect0"
    ECT1 = "ect1"
    CE = "ce"


BLEACHED = "bleached"
"""All codepoints become Not-ECT."""


_FORMS = (
    'ecn is "bleached", or a table with what a codepoint becomes: { ect1 = "ect0" }; codepoints: '
    + ", ".join(Codepoint)
)


def _ecn(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value != BLEACHED:
        raise ValueError(f"{_FORMS}, not {value!r}")
    return dict.fromkeys(("ect0", "ect1", "ce"), Codepoint.NOT_ECT)


class EcnChange(Part):
    """What a link writes into the ECN field of packets, by what stands there; each packet is changed once."""

    other_forms = ({"enum": [BLEACHED]},)

    not_ect: Codepoint | None = Field(default=None, description="what Not-ECT becomes")
    ect0: Codepoint | None = Field(default=None, description="what ECT(0) becomes")
    ect1: Codepoint | None = Field(default=None, description="what ECT(1) becomes")
    ce: Codepoint | None = Field(default=None, description="what CE becomes")
    after_queue: bool = Field(
        default=False, description="behind the link's queue, so that its marks are met, too"
    )
    start: Duration = Field(
        default=Duration(0), description="from this time on, counted from the start of the workload"
    )
    end: Duration | None = Field(default=None, description="until this time; by default to the end")

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.written:
            raise ValueError(_FORMS)
        for before, after in self.written.items():
            if before is after:
                raise ValueError(f"{before} becomes {after} anyway; leave it out")
        if self.end is not None and self.end <= self.start:
            raise ValueError("it must end after it starts")
        return self

    @property
    def written(self) -> dict[Codepoint, Codepoint]:
        """What is written, by what stood there."""
        pairs = ((codepoint, getattr(self, codepoint.name.lower())) for codepoint in Codepoint)
        return {before: after for before, after in pairs if after is not None}

    @property
    def lasts(self) -> bool:
        """Whether what becomes of a packet depends on the time."""
        return bool(self.start) or self.end is not None

    def takes(self, codepoint: Codepoint) -> bool:
        """Whether no packet keeps a codepoint, from the beginning to the end."""
        return codepoint in self.written and not self.lasts

    def __str__(self) -> str:
        texts = [f"{before} to {after}" for before, after in self.written.items()]
        bleached = self.written == dict.fromkeys(
            (Codepoint.ECT0, Codepoint.ECT1, Codepoint.CE), Codepoint.NOT_ECT
        )
        what = BLEACHED if bleached else ", ".join(texts)
        where = " after the queue" if self.after_queue else ""
        when = f" from {self.start}" if self.start else ""
        return what + where + when + (f" to {self.end}" if self.end is not None else "")


EcnSource = Annotated[EcnChange, BeforeValidator(_ecn)]
