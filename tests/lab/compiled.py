"""C programs of tests, compiled for labs: static, since the lab's C library is newer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def compiled(name: str, directory: Path) -> Path:
    """Compile NAME.c of this directory; the test is skipped without a compiler.

    Returns:
        The directory of the program, as an extra of a lab.
    """
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing; `apt-get install gcc libc6-dev` brings it")
    program = directory / name / name
    program.parent.mkdir(parents=True)
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", "-static", "-pthread")
    subprocess.run(["gcc", *flags, "-o", program, _HERE / f"{name}.c"], check=True)
    return program.parent
