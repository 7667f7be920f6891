"""Whom a study tells how it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Count = Callable[[bool], None]
"""Counts one more, done well or failed."""


class Watcher(Protocol):
    """Shows people, or nobody, what a study is doing."""

    def note(self, message: str) -> None:
        """Say something that people may want to know."""

    def warn(self, message: str) -> None:
        """Say something that people must know."""

    def counting(self, what: str, total: int) -> AbstractContextManager[Count]:
        """Show how far a task is, until the context is left."""


class Nobody:
    """A watcher that shows nothing."""

    def note(self, message: str) -> None:
        """See `Watcher`."""

    def warn(self, message: str) -> None:
        """See `Watcher`."""

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Count]:
        """See `Watcher`."""
        yield lambda well: None
