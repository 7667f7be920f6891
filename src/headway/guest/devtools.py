"""The DevTools protocol over a pair of pipes: JSON messages, each ended by NUL."""

from __future__ import annotations

import heapq
import itertools
import json
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
EventHandler = Callable[[Message, bytes], None]
"""Is given every event: parsed, and as it came."""
AnswerHandler = Callable[[Message], None]
"""Is given a command's answer, whole."""

_CHUNK_BYTES = 1 << 16
"""As much as a pipe holds; a buffer of more would be mapped anew for each message."""

_FINE_S = 0.02
"""Of so short a wait the kernel's slack is below what anybody notices."""


class DevToolsError(Exception):
    """The browser refused a command, did not answer in time, or is gone.

    Attributes:
        is_end: whether it is gone.
    """

    def __init__(self, message: str, *, is_end: bool = False) -> None:
        super().__init__(message)
        self.is_end = is_end


@dataclass(frozen=True)
class BrowserProcess:
    """A browser that listens for commands, in a process group of its own.

    Attributes:
        pid: of its first process.
        messages: descriptor that its messages are read from.
        commands: descriptor that commands are written to.
    """

    pid: int
    messages: int
    commands: int

    def kill(self) -> int:
        """End it, if it has not ended, and all its processes; returns how, as `wait` does."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """Await its end; returns its exit status, or the negative number of a signal."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        for descriptor in (self.messages, self.commands):
            os.close(descriptor)
        return status


def spawn_browser(argv: Sequence[str], *, quiet: bool = False) -> BrowserProcess:
    """Start a browser whose command line has ``--remote-debugging-pipe``.

    Args:
        argv: its command line, with the program's path.
        quiet: whether what it has to say on standard error is thrown away.
    """
    read_commands, commands = os.pipe()
    messages, write_messages = os.pipe()
    pid = os.posix_spawn(
        argv[0],
        tuple(argv),
        os.environ,
        # Chromium expects its ends at 3 and 4, which may be in use here.
        file_actions=[
            (os.POSIX_SPAWN_DUP2, read_commands, 103),
            (os.POSIX_SPAWN_DUP2, write_messages, 104),
            (os.POSIX_SPAWN_DUP2, 103, 3),
            (os.POSIX_SPAWN_DUP2, 104, 4),
            (os.POSIX_SPAWN_CLOSE, 103),
            (os.POSIX_SPAWN_CLOSE, 104),
            *([(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)] if quiet else []),
        ],
        setsid=True,
    )
    os.close(read_commands)
    os.close(write_messages)
    return BrowserProcess(pid, messages, commands)


class DevTools:
    """A connection to a browser that was started with ``--remote-debugging-pipe``.

    Args:
        from_browser: descriptor that its messages are read from.
        to_browser: descriptor that commands are written to.
        on_event: is given every event, in the order in which they come; may be replaced.
    """

    def __init__(
        self, from_browser: int, to_browser: int, on_event: EventHandler = lambda *_: None
    ) -> None:
        self._from_browser = from_browser
        self._to_browser = to_browser
        self.on_event = on_event
        self._pieces: list[bytes] = []
        self._awaited: int | None = None
        self._answer: Message | None = None
        self._handlers: dict[int, AnswerHandler] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._last_id = 0

    def send(self, method: str, params: Message | None = None, session: str | None = None) -> int:
        """Send a command without waiting for its result; returns its number."""
        self._last_id += 1
        message: Message = {"id": self._last_id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to_browser, data) :]
        except BrokenPipeError as error:
            raise DevToolsError("the browser is gone", is_end=True) from error
        return self._last_id

    def ask(
        self, method: str, params: Message | None, session: str, handler: AnswerHandler
    ) -> None:
        """Send a command whose answer, whenever it comes while messages are handled, is given to a handler."""
        self._handlers[self.send(method, params, session)] = handler

    def at(self, moment_s: float, action: Callable[[], None]) -> None:
        """Have something done at a moment of the monotonic clock, if messages are handled then, else later."""
        heapq.heappush(self._timers, (moment_s, next(self._numbers), action))

    def forget(self) -> None:
        """Nothing is done any more that was to be done at a moment or upon an answer."""
        self._timers.clear()
        self._handlers.clear()

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
        self._answer, self._awaited = None, self.send(method, params, session)
        self.pump(limit_s, lambda: self._answer is not None)
        answer, self._awaited = self._answer, None
        if answer is None:
            raise DevToolsError(f"{method} was not answered within {limit_s:g} s")
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
            self._act()
            due_s = self._timers[0][0] if self._timers else until
            left_s = min(due_s, until) - time.monotonic()
            # The kernel may be late by a thousandth of what it is asked to wait.
            wait_s = left_s if due_s >= until or left_s < _FINE_S else left_s * 0.9
            if left_s > 0 and select.select([self._from_browser], [], [], wait_s)[0]:
                self._receive()
            elif due_s >= until:
                return False
        return True

    def _act(self) -> None:
        """Do what is due."""
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    def _receive(self) -> None:
        data = os.read(self._from_browser, _CHUNK_BYTES)
        if not data:
            raise DevToolsError("the browser is gone", is_end=True)
        *ended, rest = data.split(b"\0")
        for piece in ended:
            self._handle(b"".join((*self._pieces, piece)))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)

    def _handle(self, raw: bytes) -> None:
        message = json.loads(raw)
        if "id" not in message:
            self.on_event(message, raw)
        elif message["id"] == self._awaited:
            self._answer = message
        elif handler := self._handlers.pop(message["id"], None):
            handler(message)
