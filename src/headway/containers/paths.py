"""Paths of a root tree, in which links lead to where they lead for those whose root it is."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.foreign.names import place_below

_MOST_LINKS = 40
"""As the kernel's, see path_resolution(7)."""


def resolved(root: Path, path: str | PurePosixPath, *, last: bool = True) -> Path:
    """Where a path of a root tree is, whatever is there; never outside of the tree.

    Args:
        root: the tree.
        path: as seen from inside.
        last: whether a link that is the path's last part is followed, too.

    Raises:
        WrongInputError: links lead in a circle, or to a path that no file can have.
    """
    parts = list(reversed(PurePosixPath(path).parts))
    place: list[str] = []
    links = 0
    while parts:
        part = parts.pop()
        if part == "..":
            del place[-1:]
        elif part != "/":
            place.append(part)
            here = root.joinpath(*place)
            if (parts or last) and here.is_symlink():
                links += 1
                if links > _MOST_LINKS:
                    raise WrongInputError(f"links lead in a circle at /{'/'.join(place)}")
                target = here.readlink()
                place = [] if target.is_absolute() else place[:-1]
                parts += reversed(target.parts)
    return place_below(root, "/".join(place))


def removed(place: Path) -> None:
    """Remove whatever is at a place; links are not followed."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
