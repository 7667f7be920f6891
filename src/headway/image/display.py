"""Progress of an image build on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from headway.foreign.console import escaping_console
from headway.image.progress import BuildProgress
from headway.overriding import override


class _Steps(BuildProgress):
    """Steps, one after the other; those of parts have bars at the same time."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._current: TaskID | None = None

    @override
    def step(self, name: str) -> None:
        self._finish()
        self._current = self._bars.add_task(name, total=None)

    @override
    def advance(self, fraction: float) -> None:
        if self._current is not None:
            self._bars.update(self._current, total=1.0, completed=fraction)

    @override
    def note(self, message: str) -> None:
        self._bars.console.print(message, highlight=False, markup=False)

    @override
    @contextmanager
    def part(self) -> Iterator[BuildProgress]:
        self._finish()
        part = _Steps(self._bars)
        yield part
        part._finish()

    def _finish(self) -> None:
        if self._current is not None:
            self._bars.update(self._current, total=1.0, completed=1.0)
            self._bars.stop_task(self._current)


class RichProgress(_Steps):
    """A bar with the elapsed time for each step; for terminals."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(
            Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                console=escaping_console(file=stream),
            )
        )

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
