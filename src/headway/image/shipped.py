"""Parts of an image that the package `headway-lab` ships: compiled elsewhere, from the same inputs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGE = "headway_lab"
PARTS = "parts"
"""Directory of the package; it has an entry for each part, with the name that the cache gives it."""


def shipped(name: str) -> Path | None:
    """The part of this name, such as ``kernel-1f2e3d4c``; None if the package is not installed, or ships another.

    A name has the hash of what the part is made from: a part that is found is of these inputs.
    """
    spec = find_spec(PACKAGE)
    places = (spec and spec.submodule_search_locations) or ()
    paths = (Path(place) / PARTS / name for place in places)
    return next((entry for entry in paths if entry.is_dir()), None)
