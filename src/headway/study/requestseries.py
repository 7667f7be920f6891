"""Series of requests, as clients of an interface of an application make them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from headway.study.application import Application
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

_MOST_NEW = 2000
"""Connections that a client may make in a run."""


class Reuse(StrEnum):
    """Whether a request has a connection of its own."""

    KEPT = "kept"
    """Connections are kept for the requests that follow."""
    NEW = "new"
    """Each request has a new one."""


class RequestSeries(WorkloadPart):
    """Many requests, whose latencies are told.

    Either so many users make them, each of whom waits for the response and then for a while (a closed
    loop), or they come by chance, whatever has become of those before (an open loop, whose arrivals are a
    Poisson process).
    """

    kind: Literal["requests"] = "requests"
    count: int = Field(ge=1, le=100_000, description="number of requests")
    down: Size = Field(description="of each response's body")
    up: Size = Field(
        default=Size(0), description="of each request's content; with any it is a POST"
    )
    users: int | None = Field(default=None, ge=1, le=1000, description="a closed loop of so many")
    think: Duration = Field(
        default=Duration(0), description="what a user waits between a response and the next request"
    )
    per_second: float | None = Field(
        default=None, gt=0, le=1_000_000, description="an open loop: requests that come in a second"
    )
    connections: Reuse = Field(default=Reuse.KEPT, description="kept, or new: one for each request")
    service: Duration = Field(
        default=Duration(0),
        description="what the application takes for each answer, one after the other",
    )
    delay: Duration = Field(
        default=Duration(0), description="what each answer takes besides, whatever else goes on"
    )

    @model_validator(mode="after")
    def _is_one_loop(self) -> Self:
        if (self.users is None) == (self.per_second is None):
            raise ValueError(
                "requests are made either by users = N (a closed loop) or per_second = N (an open loop)"
            )
        if self.think and self.users is None:
            raise ValueError("only users think: state users instead of per_second")
        if self.connections is Reuse.NEW and self.count > _MOST_NEW:
            raise ValueError(f"with new connections there are {_MOST_NEW} requests at most")
        return self

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
        return self.count

    @property
    @override
    def amount(self) -> Size:
        return self.down

    @property
    @override
    def sends(self) -> Duration | None:
        return Duration(round(self.count / self.per_second * 1e9)) if self.per_second else None

    @property
    @override
    def application(self) -> Application:
        return Application(f"bytes/{int(self.down)}", self.service, self.delay)

    def __str__(self) -> str:
        who = f"{self.users} users" if self.users else f"{self.per_second:g}/s"
        each = f"{self.up} up, {self.down} down" if self.up else str(self.down)
        think = f" with {self.think} of thought" if self.think else ""
        new = " on new connections" if self.connections is Reuse.NEW else ""
        return f"{self.count} requests of {each} by {who}{think}{new}"
