"""Streams: responses whose content an application makes over time."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.application import Application
from headway.study.base_model import wrong
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

LEAST_EVENT = Size(64)
"""Bytes in which a server-sent event says its number and its time."""
_MOST_MOMENTS = 200
"""They stand in the request's target, which servers take up to 8 kB of."""


class Stream(WorkloadPart):
    """Server-sent events that an application makes over time; each tells when it was made.

    They are made at an interval, or at the moments of ``at``, counted from when the request came.
    """

    kind: Literal["stream"] = "stream"
    size: Size = Field(description="of each event, its framing included; 64 B or more")
    count: int | None = Field(default=None, ge=1, le=100_000, description="events of a stream")
    interval: Duration | None = Field(default=None, description="from one event to the next")
    first: Duration | None = Field(
        default=None, description="the first event, after the request came; 0 s without it"
    )
    at: tuple[Duration, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=_MOST_MOMENTS,
        description="moments of events, instead of count, interval and first",
    )
    streams: int = Field(default=1, ge=1, le=100, description="streams side by side")
    apart: Duration = Field(
        default=Duration(0), description="from the start of one stream to that of the next"
    )

    @model_validator(mode="after")
    def _has_one_schedule(self) -> Self:
        regular = (self.count, self.interval)
        if self.size < LEAST_EVENT:
            raise wrong("size", f"an event takes {LEAST_EVENT}: it says its number and its time")
        if self.at is None and None in regular:
            raise ValueError(
                "events are made either at an interval, by count and interval, or at the moments of at"
            )
        if self.at is not None and (*regular, self.first) != (None, None, None):
            raise wrong("at", "moments say all: leave out count, interval and first")
        if self.at is not None and list(self.at) != sorted(self.at):
            raise wrong("at", "moments go forward: none is before the one in front of it")
        if self.apart and self.streams == 1:
            raise wrong("apart", "one stream is apart from no other: state streams")
        return self

    @property
    def events(self) -> int:
        """How many events a stream has."""
        return len(self.at) if self.at is not None else self.count or 0

    @property
    @override
    def requests(self) -> int:
        return self.streams

    @property
    @override
    def amount(self) -> Size:
        return Size(self.size * self.events)

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        last = (
            self.at[-1] if self.at else (self.first or 0) + (self.interval or 0) * (self.events - 1)
        )
        return OfferedLoad(sends=Duration(last + self.apart * (self.streams - 1)))

    @property
    @override
    def payload(self) -> Payload:
        events = Application(f"events/{int(self.size)}?{self._schedule}", streams=True)
        return Payload(application=events)

    @property
    def _schedule(self) -> str:
        """As headway-server reads it."""
        if self.at is not None:
            return f"at={','.join(_seconds(moment) for moment in self.at)}"
        first, interval = self.first or Duration(0), self.interval or Duration(0)
        return f"first={_seconds(first)}&interval={_seconds(interval)}&count={self.events}"

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.STREAMS}

    def __str__(self) -> str:
        when = f"at {len(self.at)} moments" if self.at is not None else f"every {self.interval}"
        each = f"stream of {self.events} events of {self.size}, {when}"
        if self.streams == 1:
            return each
        apart = f", {self.apart} apart" if self.apart else ""
        return f"{self.streams} times a {each}{apart}"


def _seconds(duration: Duration) -> str:
    return f"{duration.s:.9f}".rstrip("0").rstrip(".")
