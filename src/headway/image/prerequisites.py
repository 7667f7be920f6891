"""Prerequisites of building an image: which packages of the machine are missing, and installing them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.process import Runner, search_path, user_environment
from headway.image.progress import BuildProgress

_APT_LISTS = Path("/var/lib/apt/lists")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Prerequisite:
    """Something that a build needs of the machine.

    Attributes:
        package: the Debian and Ubuntu package that has it.
        is_there: whether the machine has it.
    """

    package: str
    is_there: Callable[[], bool]


def _file(*places: str) -> bool:
    return any(Path(place).exists() for place in places)


def _program(name: str) -> bool:
    return shutil.which(name, path=search_path()) is not None


_EVIDENCE: dict[str, Callable[..., bool]] = {"file": _file, "program": _program}


def _needed_for(purpose: str) -> tuple[Prerequisite, ...]:
    """What the list says that something needs; Python's own modules are there if this runs."""
    lines = (_HERE / "machine.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return tuple(
        Prerequisite(package, partial(_EVIDENCE[kind], *places))
        for asked, package, kind, *places in rows
        if asked == purpose and kind in _EVIDENCE
    )


PREREQUISITES = _needed_for("image")
SCRIPT_PREREQUISITES = _needed_for("scripts")
"""What layers with scripts of npm's registry need besides."""


def missing(needed: Sequence[Prerequisite]) -> list[Prerequisite]:
    """Those that the machine lacks."""
    return [prerequisite for prerequisite in needed if not prerequisite.is_there()]


def install_command(lacking: Sequence[Prerequisite]) -> list[str]:
    """The command that installs them, to be run as root."""
    packages = sorted({prerequisite.package for prerequisite in lacking})
    return ["apt-get", "install", "--yes", "--no-install-recommends", *packages]


def ensure(needed: Sequence[Prerequisite], runner: Runner, progress: BuildProgress) -> None:
    """Install what is missing, if this user may.

    Args:
        needed: what must be there.
        runner: runs the installation.
        progress: is told when something is installed.

    Raises:
        HeadwayError: something is missing and this user may not install it, or it cannot be
            installed; or the machine cannot build an image at all.
    """
    if platform.machine() != "x86_64":
        raise HeadwayError(f"a lab needs an x86-64 machine; this is {platform.machine()}")
    if shutil.which("apt-get", path=search_path()) is None:
        raise HeadwayError("an image is built from Debian packages, and this machine has no apt")
    lacking = missing(needed)
    if not lacking:
        return
    become_root = _become_root()
    if become_root is None:
        raise HeadwayError(missing_message(lacking))
    progress.step(
        f"installing {', '.join(sorted({prerequisite.package for prerequisite in lacking}))}"
    )
    environment = user_environment(DEBIAN_FRONTEND="noninteractive")
    update = [*become_root, "apt-get", "update", "-q"]
    install = [*become_root, *install_command(lacking)]
    purpose = "installing the tools that a build needs"
    if not any(_APT_LISTS.glob("*_Packages*")):
        runner.run(update, purpose=purpose, environment=environment)
    try:
        runner.run(install, purpose=purpose, environment=environment)
    except HeadwayError:
        # The machine's package lists may be older than what its mirror still has.
        runner.run(update, purpose=purpose, environment=environment)
        runner.run(install, purpose=purpose, environment=environment)
    if still := missing(needed):
        raise HeadwayError(missing_message(still))


def missing_message(lacking: Sequence[Prerequisite]) -> str:
    """What is missing, and the command that installs it."""
    return f"packages are missing; as root: {' '.join(install_command(lacking))}"


def _become_root() -> list[str] | None:
    """What to put before a command so that root runs it; None if this user cannot."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
