"""The fault that what a lab left cannot be read: a program's, whose run has failed, or the machine's."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from headway.contract.artifact import SpoiltError, readable
from headway.errors import HeadwayError, is_of_host

# A command in a lab reads what that left, and loads no plans.
if TYPE_CHECKING:
    from headway.planning.deployment import Deployment

_SHOWN = 200
_OF_CONTENT = (HeadwayError, OSError, ValueError, csv.Error, RecursionError)
"""What readers raise of a file's content: `ValueError` is also that of JSON, of Unicode and of typed records."""


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

    What no reader raises of a file's content may be a program's doing or a defect in a reader. Beside a program from
    outside it fails the run, too, and the reason says where it came from.

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
    return spoilt(error) if isinstance(error, _OF_CONTENT) else _unexpected(error)


def _unexpected(error: Exception) -> str:
    """The reason of a run that a reader did not expect."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place else ""
    what = readable(" ".join(f"{type(error).__name__}: {error}".split()), _SHOWN)
    return (
        "what the lab left could not be read; a program has written over it, or this is a defect in Headway: "
        f"{what}{where}"
    )
