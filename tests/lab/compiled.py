"""C programs of tests, compiled by Headway's own toolchain: for labs static, since the lab's C library is newer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.toolchain import environment

_HERE = Path(__file__).parent
_WARNINGS = ("-O1", "-Wall", "-Wextra", "-Werror")


def compiled(name: str, directory: Path) -> Path:
    """Compile NAME.c of this directory.

    Returns:
        The directory of the program, as an extra of a lab.
    """
    return _compile(name, directory, ("-static", "-pthread")).parent


def dynamic(name: str, directory: Path) -> Path:
    """Compile NAME.c of this directory for the lab's C library, which knows what older ones have; as `compiled`."""
    return _compile(name, directory, ("-fPIE", "-pie")).parent


def preloadable(name: str, directory: Path) -> Path:
    """Compile NAME.c of this directory to a library for this machine's programs; as `compiled`."""
    return _compile(name, directory, ("-shared", "-fPIC"))


def _compile(name: str, directory: Path, flags: Sequence[str]) -> Path:
    made = directory / name / name
    made.parent.mkdir(parents=True)
    command = ["gcc", *_WARNINGS, *flags, "-o", str(made), str(_HERE / f"{name}.c")]
    subprocess.run(command, check=True, env=environment())
    return made
