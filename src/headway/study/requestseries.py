"""Series of requests, as clients of an interface of an application make them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.application import Application
from headway.study.base_model import wrong
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

_NONE = Size(0)
_LEAST_HEADER, _MOST_HEADER = Size(16), Size(8000)
_MOST = 100_000
"""Requests of a run."""
_MOST_TOLD = 10**9
"""Calls of a tree that are more have too many digits to be read."""
_MOST_NEW = 2000
"""Connections that a client may make in a run."""


class Reuse(StrEnum):
    """Whether a request has a connection of its own."""

    KEPT = "kept"
    """Connections are kept for the requests that follow."""
    NEW = "new"
    """Each request has a new one."""


class HeaderValues(StrEnum):
    """Whether header fields of all messages are the same."""

    CONSTANT = "constant"
    """All have the same ones, so that a dynamic table holds them (RFC 7541, section 2.3.2)."""
    CHANGING = "changing"
    """Each message has other values."""


class RequestSeries(WorkloadPart):
    """Many requests, whose latencies are told.

    Either so many users make them, each of whom waits for the response and then for a while (a closed
    loop), or they come by chance, whatever has become of those before (an open loop, whose arrivals are a
    Poisson process).
    """

    kind: Literal["requests"] = "requests"
    count: int = Field(ge=1, le=_MOST, description="number of requests")
    down: Size = Field(description="of each response's body")
    up: Size = Field(
        default=Size(0),
        description="size of each request's content; a request with content is a POST",
    )
    users: int | None = Field(
        default=None, ge=1, le=1000, description="number of users, in a closed loop"
    )
    think: Duration = Field(
        default=Duration(0),
        description="how long a user waits between a response and the next request",
    )
    per_second: float | None = Field(
        default=None, gt=0, le=1_000_000, description="requests a second, in an open loop"
    )
    connections: Reuse = Field(default=Reuse.KEPT, description="kept, or new: one for each request")
    service: Duration = Field(
        default=Duration(0),
        description="how long the application works on each answer, one after the other",
    )
    delay: Duration = Field(
        default=Duration(0),
        description="how long each answer takes in addition, in parallel with others",
    )

    header_up: Size = Field(
        default=_NONE,
        exclude_if=lambda size: not size,
        description="names and values of header fields that each request has besides",
    )
    header_down: Size = Field(
        default=_NONE, exclude_if=lambda size: not size, description="the same of each response"
    )
    header_values: HeaderValues = Field(
        default=HeaderValues.CONSTANT,
        exclude_if=lambda values: values is HeaderValues.CONSTANT,
        description="constant, or changing from message to message",
    )

    fan_out: int = Field(
        default=0,
        ge=0,
        le=100,
        exclude_if=lambda number: not number,
        description="calls that a response lets begin: count is the number of trees of calls then",
    )
    depth: int = Field(
        default=1,
        ge=1,
        le=1000,
        exclude_if=lambda levels: levels == 1,
        description="levels of such a tree, with the call that it begins with",
    )

    @field_validator("header_up", "header_down")
    @classmethod
    def _has_room(cls, size: Size) -> Size:
        if size and not _LEAST_HEADER <= size <= _MOST_HEADER:
            raise ValueError(
                f"fields of {size} are not made: it is 0 B, or {_LEAST_HEADER} to {_MOST_HEADER}"
            )
        return size

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        has_any = self.header_up or self.header_down
        if self.header_values is HeaderValues.CHANGING and not has_any:
            raise wrong("header_values", "nothing changes without header_up or header_down")
        return self

    @model_validator(mode="after")
    def _is_one_loop(self) -> Self:
        if (self.users is None) == (self.per_second is None):
            raise ValueError(
                "requests are made either by users = N (a closed loop) or per_second = N (an open loop)"
            )
        if self.think and self.users is None:
            raise ValueError("only users think: state users instead of per_second")
        if self.connections is Reuse.NEW and self.requests > _MOST_NEW:
            raise ValueError(f"with new connections there are {_MOST_NEW} requests at most")
        return self

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        if bool(self.fan_out) != (self.depth > 1):
            missing = "fan_out" if self.depth > 1 else "depth"
            raise wrong(
                missing, "a tree of calls has a fan_out of 1 or more, and a depth of 2 or more"
            )
        if self.requests > _MOST:
            calls = self.calls if self.calls <= _MOST_TOLD else f"more than {_MOST_TOLD}"
            reason = f"{self.count} trees of {calls} calls are more than {_MOST} requests"
            raise wrong("depth", reason)
        return self

    @property
    def calls(self) -> int:
        """Calls of a tree; without trees, each call is one."""
        return sum(self.fan_out**level for level in range(self.depth))

    def arrivals_s(self, seed: str) -> Iterator[float]:
        """When the requests of an open loop come, in seconds, by the seed."""
        chance, at_s = random.Random(f"requests {seed}"), 0.0
        assert self.per_second is not None, "users make requests when they are ready"
        for _ in range(self.count):
            at_s += chance.expovariate(self.per_second)
            yield at_s

    @property
    @override
    def requests(self) -> int:
        return self.count * self.calls

    @property
    @override
    def amount(self) -> Size:
        return self.down

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        per_second = self.per_second
        return OfferedLoad(
            sends=Duration(round(self.count / per_second * 1e9)) if per_second else None,
            takes=Duration(self.service * self.count + self.delay),
        )

    @property
    @override
    def payload(self) -> Payload:
        behind = Application(
            f"bytes/{int(self.down)}",
            self.service,
            self.delay,
            header_bytes=int(self.header_down),
            header_changes=self.header_changes,
        )
        return Payload(application=behind)

    @property
    def header_changes(self) -> bool:
        """Whether header fields of each message are others."""
        return self.header_values is HeaderValues.CHANGING

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        trees = {Of.TREES} if self.fan_out else set()
        return super().run_kinds | {Of.SERIES} | trees

    def __str__(self) -> str:
        who = f"{self.users} users" if self.users else f"{self.per_second:g}/s"
        each = f"{self.up} up, {self.down} down" if self.up else str(self.down)
        think = f" with {self.think} of thought" if self.think else ""
        heads = ""
        if self.header_up or self.header_down:
            sizes = f"{self.header_up} up, {self.header_down} down"
            heads = f" with {self.header_values.value} fields of {sizes}"
        new = " on new connections" if self.connections is Reuse.NEW else ""
        what = (
            f"trees of {self.depth} levels, {self.fan_out} calls after each, of"
            if self.fan_out
            else "requests of"
        )
        return f"{self.count} {what} {each} by {who}{think}{heads}{new}"
