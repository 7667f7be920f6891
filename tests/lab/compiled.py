"""C programs of tests, compiled: for labs static, since the lab's C library is newer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_WARNINGS = ("-O1", "-Wall", "-Wextra", "-Werror")


def compiled(name: str, directory: Path) -> Path:
    """Compile NAME.c of this directory; the test is skipped without a compiler.

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
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing; `apt-get install gcc libc6-dev` brings it")
    made = directory / name / name
    made.parent.mkdir(parents=True)
    subprocess.run(["gcc", *_WARNINGS, *flags, "-o", made, _HERE / f"{name}.c"], check=True)
    return made
