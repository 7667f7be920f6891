"""Requests that carry messages: how headway-client is asked for them, and what its report says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from headway.programs.base import Flow
from headway.programs.client import answer_error
from headway.programs.measurement import HeardStream
from headway.study.application import TAKEN
from headway.study.messages import MessageCarrier, Messages

_SWITCHED = 101
"""Status with which a server agrees to WebSocket over HTTP/1.1."""
_GIVEN_UP = "given up"
"""The client's words for a request that met its deadline."""


class _NativeMessage(BaseModel):
    number: int
    made_s: float
    answered_s: float | None = None
    came_s: float


class NativeRequest(BaseModel):
    """A request, as the client reports it."""

    url: str = ""
    connection: int | None = None
    queued_s: float = 0
    connected_s: float | None
    secured_s: float | None
    first_byte_s: float | None
    last_byte_s: float | None
    status: int | None
    bytes: int
    sent_bytes: int | None = None
    sha256: str | None = None
    error: str | None
    messages: list[_NativeMessage] = []


def message_options(messages: Messages) -> list[str]:
    """Which messages requests have, and what carries them."""
    argv = [f"--messages={messages.said}", f"--repeat={messages.streams}"]
    if messages.carrier is not MessageCarrier.LENGTHS:
        argv.append(f"--carrier={messages.carrier}")
    if messages.deadline is not None:
        argv.append(f"--deadline={messages.deadline.s:.9f}")
    return argv


def heard(request: NativeRequest) -> HeardStream:
    """The messages of a response; an answer was made when its message had come."""
    came = request.messages
    ups = tuple(
        native_message.answered_s - native_message.made_s
        for native_message in came
        if native_message.answered_s is not None
    )
    messages = tuple(
        (native_message.answered_s or native_message.made_s, native_message.came_s)
        for native_message in came
    )
    return HeardStream(request.queued_s, messages, ups)


def unanswered(requests: Iterable[NativeRequest], messages: Messages) -> float | None:
    """Which share of messages had no answer by the deadline; None if there was none."""
    if messages.deadline is None:
        return None
    answered = sum(len(request.messages) for request in requests)
    return 1 - answered / (messages.count * messages.streams)


def request_error(request: NativeRequest, flow: Flow, directory: Path) -> str | None:
    """What is wrong with an answer that came."""
    # That it agreed to WebSocket over HTTP/1.1, the client has checked.
    agreed = request.status == _SWITCHED and not request.error
    return answer_error(TAKEN if agreed else request.status or 0, request.bytes, flow, directory)


def talk_error(
    request: NativeRequest, messages: Messages, flow: Flow, directory: Path
) -> str | None:
    """What is wrong with a request that sends messages: one that met its deadline has what came until then."""
    if messages.deadline is not None and request.error == _GIVEN_UP:
        return missing(request, len(request.messages))
    if request.error or request.status is None or request.last_byte_s is None:
        return request.error or "an answer did not come"
    return missing(request, messages.count) or request_error(request, flow, directory)


def missing(request: NativeRequest, count: int) -> str | None:
    """What is wrong with the messages of an answer that was to have so many."""
    if [message.number for message in request.messages] == list(range(1, count + 1)):
        return None
    return f"{len(request.messages)} messages came of {count}, or in another order"
