"""Progress of an image build: the protocol, and its display on a terminal or in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class BuildProgress(Protocol):
    """What a build tells of itself while it runs."""

    def step(self, name: str) -> None:
        """A step begins, as "compiling the kernel"; the step before it, if any, is done."""

    def advance(self, fraction: float) -> None:
        """This much of the step is done, from 0 to 1; steps of unknown length never say."""

    def note(self, message: str) -> None:
        """Something a person should know, as that another build is waited for."""


class SilentProgress:
    """Shows nothing."""

    def step(self, name: str) -> None:
        """See `BuildProgress.step`."""

    def advance(self, fraction: float) -> None:
        """See `BuildProgress.advance`."""

    def note(self, message: str) -> None:
        """See `BuildProgress.note`."""


class PlainProgress:
    """One line when a step begins, and one for each tenth of a long one; for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = time.monotonic()
        self._name = ""
        self._shown = 0.0

    def step(self, name: str) -> None:
        """See `BuildProgress.step`."""
        self._name, self._shown = name, 0.0
        self._print(name)

    def advance(self, fraction: float) -> None:
        """See `BuildProgress.advance`."""
        if fraction - self._shown >= 0.1:
            self._shown = fraction
            self._print(f"{self._name}: {fraction:.0%}")

    def note(self, message: str) -> None:
        """See `BuildProgress.note`."""
        self._print(message)

    def _print(self, text: str) -> None:
        elapsed = time.monotonic() - self._begun
        print(f"[{elapsed:6.1f} s] {text}", file=self._stream, flush=True)


class RichProgress:
    """A bar with the elapsed time for each step; for terminals."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
        )
        self._current: TaskID | None = None

    def __enter__(self) -> RichProgress:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._finish()
        self._bars.stop()

    def step(self, name: str) -> None:
        """See `BuildProgress.step`."""
        self._finish()
        self._current = self._bars.add_task(name, total=None)

    def advance(self, fraction: float) -> None:
        """See `BuildProgress.advance`."""
        if self._current is not None:
            self._bars.update(self._current, total=1.0, completed=fraction)

    def note(self, message: str) -> None:
        """See `BuildProgress.note`."""
        self._bars.console.print(message, highlight=False, markup=False)

    def _finish(self) -> None:
        if self._current is not None:
            self._bars.update(self._current, total=1.0, completed=1.0)
            self._bars.stop_task(self._current)


@contextmanager
def shown_progress(stream: TextIO | None = None) -> Iterator[BuildProgress]:
    """Progress on a stream (standard error): bars if it is a terminal, else plain lines."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield PlainProgress(stream)
        return
    with RichProgress(Console(file=stream)) as progress:
        yield progress
