"""Names in files of others: a place below a root, or refused."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.foreign.shown import quoted

MOST_NAME_BYTES = 255
"""Of a name in a directory, on every file system that Linux has in use."""
MOST_PATH_BYTES = 3072
"""Of a path below a root; the kernel takes 4095 together with the root's own."""
MOST_PARTS = 256
_NO_NAMES = frozenset({"", ".", ".."})


def plain(name: str, what: str = "") -> str:
    """A name of one file or directory, which leads nowhere else.

    Args:
        name: as a file of others has it.
        what: has the name, for the message; the name itself by default.

    Raises:
        WrongInputError: it is empty, or leads elsewhere, or no file can have it.
    """
    text = quoted(what or name)
    if name in _NO_NAMES or "/" in name:
        raise WrongInputError(f"it holds {text}, which leads out of it")
    if "\0" in name:
        raise WrongInputError(f"it holds {text}, and no name has a zero character")
    if (length := len(_encoded(name, text))) > MOST_NAME_BYTES:
        raise WrongInputError(
            f"it holds {text}, a name of {length} bytes: a name has at most {MOST_NAME_BYTES}"
        )
    return name


def below(path: str) -> PurePosixPath:
    """The path below a root that a path of a file of others stands for; of the root itself, an empty one.

    Args:
        path: as the file has it; a leading slash is the root.

    Raises:
        WrongInputError: it leads out of the root, or no file can have it.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for part in parts:
        plain(part, path)
    if len(parts) > MOST_PARTS or len(_encoded(path, quoted(path))) > MOST_PATH_BYTES:
        raise WrongInputError(
            f"it holds {quoted(path)}, a path of {len(parts)} parts: a path has at most {MOST_PARTS}, "
            f"and {MOST_PATH_BYTES} bytes"
        )
    return PurePosixPath(*parts)


def place_below(root: Path, path: str) -> Path:
    """Where a path of a file of others is below a root.

    Nothing is said of links there; see `headway.containers.paths.resolved` and `headway.foreign.files`.

    Raises:
        WrongInputError: as `below`.
    """
    return root / below(path)


def _encoded(name: str, text: str) -> bytes:
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:
        raise WrongInputError(f"it holds {text}, which no file can be called") from None
