"""Spans of a link's time: when it is up, by a plan of contacts (RFC 4838, 3.6), and when everything is lost.

A plan that begins again has no end, so spans are asked for up to a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from headway.study.base_model import Part
from headway.study.units import Duration

NEVER = Duration(2**62)
"""When a span ends that has no end."""


class Window(Part):
    """A span of time."""

    other_forms = (
        {"type": "array", "items": Duration.json_schema(), "minItems": 2, "maxItems": 2},
    )

    start: Duration
    end: Duration

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            if len(value) != 2:
                raise ValueError('a span is a pair of times, as ["2 s", "2.5 s"]')
            return {"start": value[0], "end": value[1]}
        if not isinstance(value, dict):
            raise ValueError('must be a list of spans, as [["2 s", "2.5 s"]]')
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a span must end after it starts")
        return self

    @property
    def length(self) -> Duration:
        """How long it lasts."""
        return Duration(self.end - self.start)


class Meanwhile(StrEnum):
    """What becomes of packets that come to a link between its contacts."""

    LOST = "lost"
    KEPT = "kept"


class Contacts(Part):
    """When a link's direction is up, and what becomes of packets in between."""

    other_forms = ({"type": "array", "items": {"type": "array"}, "minItems": 1},)

    spans: tuple[Window, ...] = Field(min_length=1, description="the contacts, in order")
    repeat: Duration | None = Field(
        default=None, gt=0, description="when the plan begins again; without it, never"
    )
    meanwhile: Meanwhile = Field(
        default=Meanwhile.LOST,
        description="what becomes of packets between contacts: lost, or kept in the link's queue for the next one",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_spans(cls, value: Any) -> Any:
        return {"spans": value} if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for before, after in itertools.pairwise(self.spans):
            if after.start <= before.end:
                raise ValueError(
                    f"the contact from {after.start} must begin after the one before it ends, at {before.end}"
                )
        if self.repeat is not None and self.repeat < self.spans[-1].end:
            raise ValueError(
                f"repeat must be as long as the plan, which ends at {self.spans[-1].end}"
            )
        return self

    @property
    def keeps(self) -> bool:
        """Whether packets between contacts wait for the next one."""
        return self.meanwhile is Meanwhile.KEPT

    def changes_until(self, until: Duration) -> int:
        """How often a contact begins or ends before a time, about."""
        laps = until // self.repeat + 1 if self.repeat else 1
        return 2 * laps * len(self.spans)

    def between(self, until: Duration) -> Iterator[Window]:
        """The spans without contact that begin before a time, in order; after the last contact, one without an end."""
        ended = Duration(0)
        for contact in self._contacts():
            if ended >= until:
                return
            if contact.start > ended:
                yield Window(start=ended, end=contact.start)
            ended = contact.end
        if ended < until:
            yield Window(start=ended, end=NEVER)

    @property
    def longest_wait(self) -> Duration:
        """The longest span between contacts after which there is another one."""
        planned = Duration(2 * self.repeat) if self.repeat else self.spans[-1].end
        gaps = (gap.length for gap in self.between(planned) if gap.end < NEVER)
        return Duration(max(gaps, default=0))

    def _contacts(self) -> Iterator[Window]:
        yield from self.spans
        for lap in itertools.count(1) if self.repeat else ():
            begun = lap * (self.repeat or 0)
            for span in self.spans:
                yield Window(start=Duration(begun + span.start), end=Duration(begun + span.end))


def is_within(windows: Iterable[Window], at: int) -> bool:
    """Whether a time in nanoseconds is in one of the spans; their ends are not."""
    return any(window.start <= at < window.end for window in windows)
