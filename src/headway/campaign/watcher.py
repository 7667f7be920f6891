"""Whom a study tells how it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from headway.overriding import override

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


class SilentWatcher(Watcher):
    """Shows nothing."""

    @override
    def note(self, message: str) -> None:
        pass

    @override
    def warn(self, message: str) -> None:
        pass

    @contextmanager
    @override
    def counting(self, what: str, total: int) -> Iterator[Count]:
        yield lambda well: None
