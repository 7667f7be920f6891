"""Executors of runs: this machine, or a cluster."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from headway.columns import Record
from headway.errors import HeadwayError, of_system
from headway.planning.runs import Run
from headway.study.path import Path as NetworkPath

# Statistics take seconds to load.
if TYPE_CHECKING:
    from headway.selftest.check import Check

Keep = Callable[[Sequence[Record]], bool]
"""Makes records durable, and says whether to go on; called in the thread that executes, as soon as
they are there."""


class Executor(Protocol):
    """Carries out runs, one lab per core."""

    is_here: ClassVar[bool]
    """Whether labs run on this machine: it makes what they are shown, and their costs are its own."""

    @property
    def machines(self) -> tuple[dict[str, object], ...]:
        """The machines beside this one that labs run on, for the manifest."""

    def check(
        self,
        paths: Sequence[NetworkPath],
        *,
        seed: int,
        directory: Path,
        on_path: Callable[[bool], None],
    ) -> tuple[Check, ...]:
        """Measure the emulation of paths.

        Args:
            paths: the paths.
            seed: seed of their random draws.
            directory: where what the labs leave behind may go.
            on_path: told after each path whether all its checks passed.

        Raises:
            HeadwayError: a lab or a probe failed.
        """

    def execute(self, runs: Sequence[Run], artifacts: Callable[[str], Path], keep: Keep) -> None:
        """Carry out runs.

        Args:
            runs: in the order in which they are started.
            artifacts: from a run's name to its directory, which is cleared first.
            keep: is given every record once; when it says so, labs are ended and no others started.

        Raises:
            HeadwayError: the host failed, for example has no space left; what was kept is kept.
            KeyboardInterrupt: the user interrupted; labs are ended, finished runs are kept.
        """


def explained(error: BaseException) -> BaseException:
    """An error of the host in words, if it is one that people can do something about."""
    if not isinstance(error, OSError):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        return HeadwayError(f"no space left for results{where}")
    return HeadwayError(of_system(error))
