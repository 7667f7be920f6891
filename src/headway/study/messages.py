"""Messages both ways on one request, each of which the server answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.application import Application
from headway.study.base_model import wrong
from headway.study.host import HTTP, Protocol
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

_LEAST = Size(64)
"""Bytes in which a message says its number and its times."""


_LENGTH_BYTES = 5
"""In front of each message behind its length."""

_CLOSE_BYTES = 4
"""Of WebSocket's last frame, which says why it is the last (RFC 6455, section 5.5.1)."""


class MessageCarrier(StrEnum):
    """What carries messages."""

    LENGTHS = "lengths"
    GRPC = "grpc"
    WEBSOCKET = "websocket"


class Messages(WorkloadPart):
    """A request whose content is messages, made at an interval, while its response answers each.

    None waits for the answer to the one in front of it.
    """

    kind: Literal["messages"] = "messages"
    carrier: MessageCarrier = Field(
        default=MessageCarrier.LENGTHS,
        description="lengths, in front of each message; grpc, the same with its fields and trailers; or websocket",
    )
    up: Size = Field(description="of each message; 64 B or more")
    down: Size = Field(description="of each answer; 64 B or more")
    count: int = Field(ge=1, le=100_000, description="messages of a request")
    interval: Duration = Field(description="from one message to the next")
    streams: int = Field(default=1, ge=1, le=100, description="such requests side by side")
    deadline: Duration | None = Field(
        default=None,
        description="when a request is given up that is not over, from when it was sent; of grpc",
    )

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        for name, size in (("up", self.up), ("down", self.down)):
            if size < _LEAST:
                raise wrong(name, f"a message takes {_LEAST}: it says its number and its times")
        return self

    @model_validator(mode="after")
    def _has_deadline(self) -> Self:
        if self.deadline is None:
            return self
        if self.carrier is not MessageCarrier.GRPC:
            raise wrong("deadline", f'{self.carrier} has no deadlines: carrier = "grpc" has')
        if not self.deadline:
            raise wrong("deadline", "no request is over at once: leave it out, or let it be longer")
        return self

    @property
    @override
    def requests(self) -> int:
        return self.streams

    @property
    @override
    def amount(self) -> Size:
        """Of each response, with what frames its messages."""
        if self.carrier is MessageCarrier.WEBSOCKET:
            return Size((self.down + _frame_bytes(self.down)) * self.count + _CLOSE_BYTES)
        return Size((self.down + _LENGTH_BYTES) * self.count)

    @property
    @override
    def protocols(self) -> frozenset[Protocol]:
        """Those in which an answer goes on while its request does; WebSocket has a form for each."""
        return (
            HTTP
            if self.carrier is MessageCarrier.WEBSOCKET
            else frozenset({Protocol.H2, Protocol.H3})
        )

    @property
    @override
    def needs(self) -> str:
        return "an answer has to go on while its request does, as WebSocket's do over h1, too"

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(sends=Duration(self.interval * (self.count - 1)))

    @property
    @override
    def payload(self) -> Payload:
        websockets = self.carrier is MessageCarrier.WEBSOCKET
        echo = Application(f"echo/{int(self.down)}", streams=True, websockets=websockets)
        return Payload(application=echo)

    @property
    def said(self) -> str:
        """Messages as headway-client reads them."""
        return f"{int(self.up)}?interval={self.interval.s:.9f}&count={self.count}"

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.SERIES, Of.STREAMS, Of.MESSAGES}

    def __str__(self) -> str:
        each = f"{self.count} messages of {self.up}, answers of {self.down}, every {self.interval}"
        if self.carrier is not MessageCarrier.LENGTHS:
            each += f" over {_NAMES[self.carrier]}"
        return each if self.streams == 1 else f"{self.streams} times {each}"


_NAMES = {MessageCarrier.GRPC: "gRPC", MessageCarrier.WEBSOCKET: "WebSocket"}


def _frame_bytes(payload: Size) -> int:
    """What a server's WebSocket frame takes beside its payload (RFC 6455, section 5.2)."""
    return 2 if payload < 126 else 4 if payload < 1 << 16 else 10
