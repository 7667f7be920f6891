"""Messages both ways on one request, each of which the server answers."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from headway.study.application import Application
from headway.study.host import Protocol
from headway.study.part import wrong
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

_LEAST = Size(64)
"""Bytes in which a message says its number and its times."""


_LENGTH_BYTES = 5
"""In front of each message."""


class Messages(WorkloadPart):
    """A request whose content is messages, made at an interval, while its response answers each.

    Messages stand behind their lengths, as gRPC has them. None waits for the answer to the one in front of it.
    """

    kind: Literal["messages"] = "messages"
    up: Size = Field(description="of each message; 64 B or more")
    down: Size = Field(description="of each answer; 64 B or more")
    count: int = Field(ge=1, le=100_000, description="messages of a request")
    interval: Duration = Field(description="from one message to the next")
    streams: int = Field(default=1, ge=1, le=100, description="such requests side by side")

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        for name, size in (("up", self.up), ("down", self.down)):
            if size < _LEAST:
                raise wrong(name, f"a message takes {_LEAST}: it says its number and its times")
        return self

    @property
    @override
    def requests(self) -> int:
        return self.streams

    @property
    @override
    def amount(self) -> Size:
        return Size((self.down + _LENGTH_BYTES) * self.count)

    @property
    @override
    def protocols(self) -> frozenset[Protocol]:
        """Those in which an answer goes on while its request does."""
        return frozenset({Protocol.H2, Protocol.H3})

    @property
    @override
    def needs(self) -> str:
        return "an answer has to go on while its request does"

    @property
    @override
    def sends(self) -> Duration:
        return Duration(self.interval * (self.count - 1))

    @property
    @override
    def application(self) -> Application:
        return Application(f"echo/{int(self.down)}", streams=True)

    @property
    def said(self) -> str:
        """Messages as headway-client reads them."""
        return f"{int(self.up)}?interval={self.interval.s:.9f}&count={self.count}"

    def __str__(self) -> str:
        each = f"{self.count} messages of {self.up}, answers of {self.down}, every {self.interval}"
        return each if self.streams == 1 else f"{self.streams} times {each}"
