"""The directory of Matplotlib's settings and its list of fonts: its usual one, or in Headway's cache."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from headway.cache import cache_directory

_NAMED = "MPLCONFIGDIR"
_USUAL = (("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", ".cache"))
_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Lasts as long as the process."""


def settle() -> None:
    """Name a directory that can be written to before Matplotlib is imported, if its own two cannot.

    It would warn, in lines that nobody who asked for a report can do anything with.
    """
    if "matplotlib" in sys.modules or _NAMED in os.environ or all(map(_is_usable, _usual())):
        return
    own = cache_directory() / "matplotlib"
    if not _is_usable(own):
        _kept.append(tempfile.TemporaryDirectory(prefix="headway-matplotlib-"))
        own = Path(_kept[-1].name)
    os.environ[_NAMED] = str(own)


def _usual() -> Iterable[Path]:
    for variable, below_home in _USUAL:
        yield Path(os.environ.get(variable) or Path.home() / below_home) / "matplotlib"


def _is_usable(directory: Path) -> bool:
    """Whether it is there, or can be made, and takes files."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)
