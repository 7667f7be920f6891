"""Rates of a link's direction: constant, by a schedule, drawn at random, or by a trace."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from headway.study.base_model import Part
from headway.study.queue import FRAME_BYTES, TraceBest
from headway.study.units import Duration, Rate
from headway.traces.account import TraceAccount, most_within, trace_account
from headway.traces.mahimahi import TimeUnit


class RateStep(Part):
    """From ``at`` on, the link has this rate."""

    at: Duration
    rate: Rate


class RateSchedule(Part):
    """A rate that changes at stated times; with ``repeat`` the schedule starts again after it."""

    other_forms = (Rate.json_schema(),)

    steps: tuple[RateStep, ...] = Field(min_length=1)
    repeat: Duration | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        times = [step.at for step in self.steps]
        if times[0] != 0:
            raise ValueError('the first step must be at "0 s"')
        if any(later <= earlier for earlier, later in itertools.pairwise(times)):
            raise ValueError("the times of the steps must increase")
        if self.repeat is not None and self.repeat <= times[-1]:
            raise ValueError("repeat must be longer than the time of the last step")
        return self

    def changes_until(self, until: Duration) -> int:
        """How often it changes before a time, about."""
        laps = until // self.repeat + 1 if self.repeat else 1
        return laps * len(self.steps)


class RandomRate(Part):
    """A rate drawn anew from [low, high], uniformly, every so often."""

    low: Rate
    high: Rate
    every: Duration

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        if self.every < 1_000_000:
            raise ValueError("every must be 1 ms at least")
        return self

    def changes_until(self, until: Duration) -> int:
        """How often it changes before a time."""
        return until // self.every


class TraceRate(Part):
    """Delivery opportunities from a Mahimahi trace file.

    Each line is the millisecond of one opportunity to deliver 1500 bytes (of IP packets); the
    trace starts again at its end. An opportunity that finds the queue empty is lost.
    """

    trace: str
    unit: TimeUnit | None = Field(
        default=None,
        exclude_if=lambda unit: unit is None,
        description="of its times, if they are no milliseconds or look as if they were not",
    )
    opportunities_ms: tuple[int, ...] = Field(default=(), repr=False, exclude=True)
    known: TraceAccount | None = Field(default=None, repr=False, exclude=True)

    @property
    def account(self) -> TraceAccount | None:
        """What it holds; None if that was left out where it stands."""
        return trace_account(self.opportunities_ms) if self.opportunities_ms else self.known

    def best(self, rtt: Duration) -> TraceBest | None:
        """What it lets pass within a round trip, and at once; None if its opportunities are not known."""
        if not self.opportunities_ms:
            return None
        within, burst = (
            most_within(self.opportunities_ms, window_ms) * FRAME_BYTES
            for window_ms in (math.ceil(rtt.ms), 1)
        )
        return TraceBest(within, burst)


def _rate_source(value: object) -> object:
    return (
        {"steps": [{"at": "0 s", "rate": value}]} if isinstance(value, str | int | float) else value
    )


def _kind_of_rate(value: object) -> str:
    keys = (
        value
        if isinstance(value, dict)
        else type(value).model_fields
        if isinstance(value, Part)
        else ()
    )
    if "trace" in keys:
        return "trace"
    return "random" if {"low", "high", "every"} & set(keys) else "schedule"


def is_trace(value: object) -> bool:
    """Whether the value of a rate, in a study's words or read, is a trace's."""
    return _kind_of_rate(value) == "trace"


RateSource = Annotated[
    Annotated[RateSchedule, Tag("schedule")]
    | Annotated[RandomRate, Tag("random")]
    | Annotated[TraceRate, Tag("trace")],
    Discriminator(_kind_of_rate),
    BeforeValidator(_rate_source),
]
