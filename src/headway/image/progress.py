"""Progress of an image build: the protocol, and plain lines for logs."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TextIO

from headway.overriding import override


class BuildProgress(Protocol):
    """What a build tells of itself while it runs."""

    def step(self, name: str) -> None:
        """A step begins, as "compiling the kernel"; the step before it, if any, is done."""

    def advance(self, fraction: float) -> None:
        """This much of the step is done, from 0 to 1; steps of unknown length never say."""

    def note(self, message: str) -> None:
        """Something a person should know, as that another build is waited for."""

    def part(self) -> AbstractContextManager[BuildProgress]:
        """The progress of something that is made beside others, with steps of its own."""


class SilentProgress(BuildProgress):
    """Shows nothing."""

    @override
    def step(self, name: str) -> None:
        pass

    @override
    def advance(self, fraction: float) -> None:
        pass

    @override
    def note(self, message: str) -> None:
        pass

    @override
    def part(self) -> AbstractContextManager[BuildProgress]:
        return nullcontext(self)


class PlainProgress(BuildProgress):
    """One line when a step begins, and one for each tenth of a long one; for logs and pipes."""

    def __init__(self, stream: TextIO, begun: float | None = None) -> None:
        self._stream = stream
        self._begun = time.monotonic() if begun is None else begun
        self._name = ""
        self._shown = 0.0

    @override
    def step(self, name: str) -> None:
        self._name, self._shown = name, 0.0
        self._print(name)

    @override
    def advance(self, fraction: float) -> None:
        if fraction - self._shown >= 0.1:
            self._shown = fraction
            self._print(f"{self._name}: {fraction:.0%}")

    @override
    def note(self, message: str) -> None:
        self._print(message)

    @override
    def part(self) -> AbstractContextManager[BuildProgress]:
        return nullcontext(PlainProgress(self._stream, self._begun))

    def _print(self, text: str) -> None:
        elapsed = time.monotonic() - self._begun
        # In one piece: another part may print at the same time.
        self._stream.write(f"[{elapsed:6.1f} s] {text}\n")
        self._stream.flush()
