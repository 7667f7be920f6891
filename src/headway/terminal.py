"""Consoles of the command line: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from headway.campaign.watcher import Watcher
from headway.foreign.console import escaping_console
from headway.foreign.shown import printable
from headway.overriding import override

# It takes as long to load as all else that a short command needs.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn

_FIRST_LINE_AFTER_S = 2.0
_LINE_EVERY_S = 10.0
_LINE_AT_LEAST_EVERY_S = 300.0
_LINES = 20
_WIDTH_FOR_BAR, _WIDTH_FOR_ELAPSED = 70, 90
"""Columns of a terminal."""
_NARROWEST, _USUAL, _WIDEST = 20, 80, 10_000
_DIGITS = 6


@cache
def output() -> Console:
    """Standard output, for what has a form: tables, emphasis, text that is fit into the terminal's width."""
    return escaping_console(highlight=False, width=_width())


@cache
def notes() -> Console:
    """Standard error, in the same way."""
    return escaping_console(stderr=True, highlight=False, width=_width())


def _width() -> int | None:
    """Columns, where ``COLUMNS`` says so many that nothing would be readable; None elsewhere, where rich knows."""
    stated = os.environ.get("COLUMNS", "")
    if not stated.isdigit():
        return None
    if stated.isdecimal() and len(stated) < _DIGITS and _NARROWEST <= int(stated) <= _WIDEST:
        return None
    # Libraries read it, too.
    del os.environ["COLUMNS"]
    try:
        return os.get_terminal_size().columns or _USUAL
    except OSError:
        return _USUAL


def say(message: str) -> None:
    """Print a line of a command's result; what a terminal would obey is written out."""
    print(printable(message))


def note(message: str) -> None:
    """Print a line beside a command's result, in the same way."""
    print(printable(message), file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """Print one line about what went wrong."""
    note(f"headway: {message}")


class Terminal(Watcher):
    """Shows people what a study is doing."""

    @override
    def note(self, message: str) -> None:
        note(message)

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
    if not sys.stderr.isatty():
        note(f"{what}: {total} to do")
        yield Lines(what, total, note).count
        return
    from rich.progress import Progress

    tally = Tally(total)
    columns = _columns(notes().width)
    with Progress(*columns, console=notes(), transient=True) as shown:
        task = shown.add_task(what, total=total, aside="")

        def count(well: bool) -> None:
            tally.count(well)
            shown.update(task, advance=1, aside=", ".join(tally.aside()))

        yield count


def _columns(width: int) -> Iterable[ProgressColumn]:
    """What a bar of progress tells, each in one line: the less, the narrower the terminal is."""
    from rich import progress as parts
    from rich.table import Column

    line = Column(no_wrap=True)
    yield parts.TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1))
    if width >= _WIDTH_FOR_BAR:
        yield parts.BarColumn(None, table_column=Column(ratio=1))
    yield parts.MofNCompleteColumn(table_column=line)
    yield parts.TextColumn("{task.fields[aside]}", table_column=line)
    if width >= _WIDTH_FOR_ELAPSED:
        yield parts.TimeElapsedColumn(table_column=line)
        yield parts.TextColumn("elapsed,", table_column=line)
    yield parts.TimeRemainingColumn(table_column=line)
    yield parts.TextColumn("left", table_column=line)


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
        """Time that is left at this rate, such as ``0:01:20 left``."""
        from datetime import timedelta

        if not self.per_s or self.done == self.total:
            return ""
        return f"{timedelta(seconds=round((self.total - self.done) / self.per_s))} left"


class Lines:
    """Tells how far a task is in lines: soon for the first time, then at most about twenty, and one in five minutes."""

    def __init__(
        self,
        what: str,
        total: int,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._write = write
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
            self._write(f"{self._what}: {', '.join(part for part in parts if part)}")
            self._said_s, self._said = self._clock(), tally.done
