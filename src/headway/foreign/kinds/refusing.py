"""The refusal of a file: it begins with what the file is, and names what takes it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.model import FileKind, Identity


@contextmanager
def naming_kind(identity: Identity, path: Path) -> Iterator[None]:
    """Let a reader's refusal begin with what the file is.

    Args:
        identity: of the file that is read meanwhile.
        path: of it.
    """
    try:
        yield
    except WrongInputError as error:
        place = (error.where or "").removeprefix(str(path)).lstrip(": ")
        message = f"{place}: {error.message}" if place else error.message
        raise WrongInputError(f"{identity}: {message}", where=str(path)) from error


def check_kind(path: Path, noun: str, *wanted: FileKind) -> None:
    """Check that a file may be what a command takes, before its reader finds out in the words of a parser.

    Args:
        path: of the file.
        noun: what the command takes.
        wanted: kinds that it takes; a vague kind, such as a text, may be one of them.

    Raises:
        WrongInputError: it is of another kind, or cannot be read.
    """
    identity = identify(path)
    if identity.kind not in wanted and not identity.kind.is_vague:
        raise of_other_kind(identity, path, noun)


def of_other_kind(identity: Identity, path: Path, noun: str) -> WrongInputError:
    """The error of a reader that is given a file of another kind.

    Args:
        identity: what the file is.
        path: of the file.
        noun: what the reader takes.
    """
    way = identity.way(shlex.quote(str(path)))
    message = f"{identity}, not {noun}"
    return WrongInputError(f"{message}; {way}" if way else message, where=str(path))
