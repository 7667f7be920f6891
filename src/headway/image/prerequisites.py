"""The tools that building an image needs: which are missing, and installing them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.apt import debian_keyring
from headway.image.process import Runner, search_path, user_environment
from headway.image.progress import BuildProgress

_APT_LISTS = Path("/var/lib/apt/lists")
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True)
class Prerequisite:
    """Something that a build needs of the machine.

    Attributes:
        what: its name.
        package: the Debian and Ubuntu package that has it.
        is_there: whether the machine has it.
    """

    what: str
    package: str
    is_there: Callable[[], bool]


def _tool(name: str, package: str | None = None) -> Prerequisite:
    def is_there() -> bool:
        return shutil.which(name, path=search_path()) is not None

    return Prerequisite(name, package or name, is_there)


def _header(name: str, package: str) -> Prerequisite:
    places = (Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu"))
    return Prerequisite(
        f"<{name}>", package, lambda: any((place / name).exists() for place in places)
    )


PACKAGE_PREREQUISITES = (
    Prerequisite(
        "Debian's archive keyring", "debian-archive-keyring", lambda: debian_keyring() is not None
    ),
)
COMPILER = _tool("gcc")
KERNEL_PREREQUISITES = (
    _tool("make"),
    COMPILER,
    _tool("strip", "binutils"),
    _tool("flex"),
    _tool("bison"),
    _tool("bc"),
    _tool("patch"),
    _tool("xz", "xz-utils"),
    _header("stdio.h", "libc6-dev"),
)
NATIVE_PREREQUISITES = (
    COMPILER,
    _header("stdio.h", "libc6-dev"),
    Prerequisite("certificates of authorities", "ca-certificates", _AUTHORITIES.exists),
)
NPM_PREREQUISITES = (_tool("npm"),)


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
    progress.step(f"installing {', '.join(sorted({item.package for item in lacking}))}")
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
    names = ", ".join(dict.fromkeys(prerequisite.what for prerequisite in lacking))
    return f"building an image needs {names}; as root: {' '.join(install_command(lacking))}"


def _become_root() -> list[str] | None:
    """What to put before a command so that root runs it; None if this user cannot."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None
