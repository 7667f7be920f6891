"""The DevTools protocol over a pair of pipes: JSON messages, each ended by NUL."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
EventHandler = Callable[[Message, bytes], None]
"""Is given every event: parsed, and as it came."""

_CHUNK_BYTES = 1 << 20


class DevToolsError(Exception):
    """The browser refused a command, did not answer in time, or is gone."""


class DevTools:
    """A connection to a browser that was started with ``--remote-debugging-pipe``.

    Args:
        from_browser: descriptor that its messages are read from.
        to_browser: descriptor that commands are written to.
        on_event: is given every event, in the order in which they come.
    """

    def __init__(self, from_browser: int, to_browser: int, on_event: EventHandler) -> None:
        self._from_browser = from_browser
        self._to_browser = to_browser
        self._on_event = on_event
        self._pieces: list[bytes] = []
        self._answers: dict[int, Message] = {}
        self._last_id = 0

    def send(self, method: str, params: Message | None = None, session: str | None = None) -> int:
        """Send a command without waiting; returns its number, for `answer`."""
        self._last_id += 1
        message: Message = {"id": self._last_id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to_browser, data) :]
        except BrokenPipeError as error:
            raise DevToolsError("the browser is gone") from error
        return self._last_id

    def call(
        self,
        method: str,
        params: Message | None = None,
        session: str | None = None,
        limit_s: float = 60,
    ) -> Message:
        """Carry out a command and wait for its result.

        Raises:
            DevToolsError: it was refused or not answered in time, or the browser is gone.
        """
        number = self.send(method, params, session)
        self.pump(limit_s, lambda: number in self._answers)
        if number not in self._answers:
            raise DevToolsError(f"{method} was not answered within {limit_s:g} s")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise DevToolsError(f"{method}: {answer['error'].get('message')}")
        result: Message = answer["result"]
        return result

    def pump(self, limit_s: float, done: Callable[[], bool] = lambda: False) -> bool:
        """Handle messages until something is done, or for that long.

        Returns:
            Whether it is done.

        Raises:
            DevToolsError: the browser is gone.
        """
        until = time.monotonic() + limit_s
        while not done():
            left_s = until - time.monotonic()
            if left_s <= 0 or not select.select([self._from_browser], [], [], left_s)[0]:
                return False
            self._receive()
        return True

    def _receive(self) -> None:
        data = os.read(self._from_browser, _CHUNK_BYTES)
        if not data:
            raise DevToolsError("the browser is gone")
        *ended, rest = data.split(b"\0")
        for piece in ended:
            self._handle(b"".join((*self._pieces, piece)))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)

    def _handle(self, raw: bytes) -> None:
        message = json.loads(raw)
        if "id" not in message:
            self._on_event(message, raw)
        elif message["id"] <= self._last_id:
            self._answers[message["id"]] = message
