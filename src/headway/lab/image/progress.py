"""Progress of an image build: the protocol, and plain lines for logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO


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


@contextmanager
def shown_progress(stream: TextIO | None = None) -> Iterator[BuildProgress]:
    """Progress on a stream (standard error): bars if it is a terminal, else plain lines."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield PlainProgress(stream)
        return
    # Loading it takes a while, and most commands find the image in the cache.
    from headway.lab.image.display import RichProgress

    with RichProgress(stream) as progress:
        yield progress
