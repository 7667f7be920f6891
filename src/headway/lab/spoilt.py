"""Whose fault it is that what a lab left cannot be read: a program's, whose run has failed, or the machine's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headway.contract.artifact import SpoiltError, readable
from headway.errors import HeadwayError, is_of_host

# A command in a lab reads what that left, and loads no plans.
if TYPE_CHECKING:
    from headway.planning.deployment import Deployment

_SHOWN = 200


def spoilt(error: Exception) -> str:
    """The reason of a run of whose directory something cannot be read."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return f"a program has spoilt the run's directory: {readable(reason, _SHOWN)}"


def check_there(directory: Path) -> None:
    """Let a directory of results be there.

    Raises:
        HeadwayError: it is gone, which is no program's doing.
    """
    if not directory.is_dir():
        raise HeadwayError(f"{directory} is gone: it was removed or moved meanwhile")


def spoilt_by_program(error: Exception, deployment: Deployment, directory: Path) -> str:
    """The same, if a program under study can have done it.

    Args:
        error: what came of reading.
        deployment: of the run.
        directory: the run's.

    Raises:
        HeadwayError: the directory is gone.
        Exception: the error, if this machine failed, or no program is from outside, so that Headway is to blame.
    """
    check_there(directory)
    brought = any(end.adapter.outside for end in deployment.programs)
    if is_of_host(error) or not (brought or isinstance(error, SpoiltError)):
        raise error
    return spoilt(error)
