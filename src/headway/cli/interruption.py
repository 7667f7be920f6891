"""Asked to end: Ctrl-C, SIGTERM and SIGHUP end a command in the same way."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """What the signals do that ask a command to end, while this context lasts.

    At first they end the process at once; then in order, with a KeyboardInterrupt. Either way one line says so at once.
    One that the process was started to ignore, as by nohup, stays ignored.

    Attributes:
        exit_status: 128 and the number of the signal that came first; None if none came.
    """

    def __init__(self) -> None:
        self.exit_status: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        for number in _SIGNALS:
            if (before := signal.getsignal(number)) is not signal.SIG_IGN:
                self._before[number] = before
        self._on_signal(_end_at_once)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def ends_in_order(self) -> None:
        """From now on there is something to be ended, and results to be kept."""
        self._on_signal(self._end_in_order)

    def _on_signal(self, act: Callable[[int, FrameType | None], None]) -> None:
        for number in self._before:
            signal.signal(number, act)

    def _end_in_order(self, number: int, _: FrameType | None) -> None:
        _leave_lost_terminal()
        first = self.exit_status is None
        if first:
            self.exit_status = 128 + number
            _say()
        # A supervisor may send several at once; a person who presses Ctrl-C again means it.
        if first or number == signal.SIGINT:
            raise KeyboardInterrupt


def _end_at_once(number: int, _: FrameType | None) -> None:
    _say()
    os._exit(128 + number)


def _say() -> None:
    """Say it without a buffer, which the code that was interrupted may be filling."""
    descriptor = sys.__stderr__.fileno() if sys.__stderr__ else 2
    # A terminal has a bar of progress, or ^C, in its line.
    begun = b"\n" if os.isatty(descriptor) else b""
    os.write(descriptor, begun + b"headway: interrupted\n")


def _leave_lost_terminal() -> None:
    """Say what is still said to nobody if the terminal is gone; writing to it would fail."""
    for descriptor in (1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
