"""Consoles of the command line: results on standard output, everything else on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typing_extensions import override

from headway.campaign.watcher import Watcher

output = Console(highlight=False)
notes = Console(stderr=True, highlight=False)

_FIRST_LINE_AFTER_S = 2.0
_LINE_EVERY_S = 10.0
_LINE_AT_LEAST_EVERY_S = 300.0
_LINES = 20


def complain(message: str) -> None:
    """Print one line about what went wrong."""
    notes.print(f"headway: {message}", markup=False, soft_wrap=True)


class Terminal(Watcher):
    """Shows people what a study is doing."""

    @override
    def note(self, message: str) -> None:
        notes.print(message, markup=False, soft_wrap=True)

    @override
    def warn(self, message: str) -> None:
        complain(message)

    @contextmanager
    @override
    def counting(self, what: str, total: int) -> Iterator[Callable[[bool], None]]:
        with progress(what, total) as count:
            yield count


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[bool], None]]:
    """Show how far a task is; yields a function that counts one more, done well or failed.

    On a terminal that is a bar, elsewhere a line now and then.
    """
    if not notes.is_terminal:
        notes.print(f"{what}: {total} to do", markup=False)
        yield Lines(what, total, notes).count
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[aside]}"),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    tally = Tally(total)
    with Progress(*columns, console=notes, transient=True) as shown:
        task = shown.add_task(what, total=total, aside="")

        def count(well: bool) -> None:
            tally.count(well)
            shown.update(task, advance=1, aside=", ".join(tally.aside()))

        yield count


@dataclass
class Tally:
    """How far a task is.

    Attributes:
        total: how many there are.
        clock: tells seconds.
        done: how many are done, well or failed.
        failed: how many of them failed.
    """

    total: int
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    failed: int = 0
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._began_s = self.clock()

    def count(self, well: bool) -> None:
        """One more is done."""
        self.done += 1
        self.failed += not well

    @property
    def per_s(self) -> float:
        """Rate so far; 0 as long as it cannot be told."""
        elapsed_s = self.clock() - self._began_s
        return self.done / elapsed_s if elapsed_s > 0 else 0.0

    def aside(self) -> list[str]:
        """Failures, if any, and the rate."""
        failures = [f"{self.failed} failed"] if self.failed else []
        return [*failures, f"{float(f'{self.per_s:.2g}'):g}/s"] if self.per_s else failures

    def left(self) -> str:
        """Time that is left at this rate, as ``0:01:20 left``."""
        if not self.per_s or self.done == self.total:
            return ""
        return f"{timedelta(seconds=round((self.total - self.done) / self.per_s))} left"


class Lines:
    """Tells how far a task is in lines: soon for the first time, then at most about twenty, and one in five minutes."""

    def __init__(
        self,
        what: str,
        total: int,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._console = console
        self._tally = Tally(total, clock)
        self._clock = clock
        self._said_s = clock()
        self._said = 0

    def count(self, well: bool) -> None:
        """One more is done; says so if it is time."""
        tally = self._tally
        tally.count(well)
        silent_s = self._clock() - self._said_s
        far = tally.done - self._said >= tally.total / _LINES and silent_s >= _LINE_EVERY_S
        first = not self._said and silent_s >= _FIRST_LINE_AFTER_S
        if first or far or tally.done == tally.total or silent_s >= _LINE_AT_LEAST_EVERY_S:
            parts = [f"{tally.done} of {tally.total}", *tally.aside(), tally.left()]
            line = f"{self._what}: {', '.join(part for part in parts if part)}"
            self._console.print(line, markup=False, soft_wrap=True)
            self._said_s, self._said = self._clock(), tally.done
