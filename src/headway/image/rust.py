"""The Rust toolchain: this machine's own if it is new enough, else Debian's, in the cache."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from headway.cache import digest
from headway.errors import HeadwayError
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.process import Runner, scrubbed_environment, user_environment
from headway.image.progress import BuildProgress
from headway.image.toolchain import answer, numbers, obstacle

_VERSION = re.compile(r"\S+ (?P<version>\d+\.\d+\.\d+)")
_OLDEST_SUITE = "bookworm"
"""Its programs run on every Debian and Ubuntu that is younger."""
# By the binary package that has it: under a stable Debian's usual name, and under that of the
# newer Rust which the web browsers of that Debian are compiled with.
_PACKAGES = ("rustc", "cargo", "rust-clippy", "rustfmt")
_NEWER_PACKAGES = ("rustc-web", "cargo-web", "rust-web-clippy", "rustfmt-web")
# The C toolchain is the machine's own, and so is what apt itself is linked with: a second copy of
# that could not serve the machine's linker, which must see the toolchain's libraries too.
_LEFT_OUT = ("binutils", "debconf", "gcc", "libc-dev", "libc6", "libgcc-s1", "libstdc++6")
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")


class BroughtRust(BaseModel):
    """How a toolchain in the cache was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    suite: str
    packages: dict[str, str]
    """Versions of all packages that were unpacked, by name."""


@dataclass(frozen=True)
class RustToolchain:
    """A toolchain that can be used.

    Attributes:
        version: of its ``rustc``, as ``1.85.0``.
        tree: the directory into which Debian's packages were unpacked; None for the programs in
            ``PATH``.
    """

    version: str
    tree: Path | None = None

    @property
    def origin(self) -> str:
        """Where it is."""
        return "in PATH" if self.tree is None else f"Debian's, in {self.tree}"

    def environment(self, **more: str) -> dict[str, str]:
        """The user's environment (it may name proxies) in which ``cargo`` is this one."""
        if self.tree is None:
            return user_environment(**more)
        libraries = os.pathsep.join(str(self.tree / place) for place in _LIBRARIES)
        environment = user_environment(LD_LIBRARY_PATH=libraries, **more)
        environment["PATH"] = f"{self.tree / 'usr/bin'}{os.pathsep}{environment['PATH']}"
        return environment

    def has(self, command: str) -> bool:
        """Whether ``cargo`` knows a command that is packaged apart, as ``clippy``."""
        asked = ["cargo", command, "--version"]
        return answer(asked, self.environment(), Path("/")) is not None


def own_version(directory: Path) -> str | None:
    """The version of the toolchain in ``PATH``: the older of ``cargo`` and ``rustc``.

    Args:
        directory: where it is asked: rustup lets a directory choose its toolchain.

    Returns:
        As ``1.85.0``; None if one of the two is not there.
    """
    found = []
    for program in ("cargo", "rustc"):
        said = answer([program, "--version"], user_environment(), directory) or ""
        if (match := _VERSION.match(said)) is None:
            return None
        found.append(match["version"])
    return min(found, key=numbers)


def own_obstacle(version: str | None, needed: str) -> str | None:
    """Why the toolchain in ``PATH`` cannot compile what needs another; None if it can."""
    return obstacle("Rust", "cargo and rustc" if version is None else "rustc", version, needed)


def host_suite() -> str:
    """The Debian suite whose programs this machine can run: its own, if it is a Debian."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return _OLDEST_SUITE
    codename = release.get("VERSION_CODENAME")
    return codename if release.get("ID") == "debian" and codename else _OLDEST_SUITE


def entry_name() -> str:
    """The name in the cache of the toolchain that this machine would be brought."""
    return f"rust-{host_suite()}-{digest(*_PACKAGES, *_NEWER_PACKAGES, *_LEFT_OUT)}"


def rust_apt(directory: Path, mirror: str, suite: str, runner: Runner) -> PrivateApt:
    """The apt that can fetch a toolchain."""
    return PrivateApt(directory, mirror, suite, runner, _LEFT_OUT)


def bring_rust(
    apt: PrivateApt, needed: str, directory: Path, progress: BuildProgress
) -> BroughtRust:
    """Unpack Debian's toolchain into a directory; nothing is installed.

    Args:
        apt: of `rust_apt`.
        needed: the oldest version that will do.
        directory: where.
        progress: is told how it goes.

    Raises:
        HeadwayError: no network, no space, or the suite's toolchain is too old.
    """
    progress.step(f"reading the package list of {apt.suite}")
    apt.update(progress.advance)
    names = _offered(apt)
    packages = apt.closure(names)
    version = next(_upstream(item) for item in packages if item.name == names[0])
    if numbers(version) < numbers(needed):
        raise HeadwayError(
            f"Headway's own programs need Rust {needed} or later, and Debian {apt.suite} has"
            f" {version}; install a newer one so that cargo and rustc are in PATH"
        )
    progress.step(f"downloading Rust {version} of Debian {apt.suite}")
    archives = apt.download(packages, progress.advance)
    progress.step(f"unpacking Rust {version}")
    for done in _unpacked(archives, directory, apt.runner):
        progress.advance(done / len(archives))
    return BroughtRust(
        version=version,
        suite=apt.suite,
        packages={package.name: package.version for package in packages},
    )


def _offered(apt: PrivateApt) -> Sequence[str]:
    """The names of the toolchain's packages, its compiler first."""
    return _NEWER_PACKAGES if apt.names().issuperset(_NEWER_PACKAGES) else _PACKAGES


def _upstream(package: PackageVersion) -> str:
    """The version without Debian's addition to it: ``1.85.0`` of ``1.85.0+dfsg3-1``."""
    return re.split(r"[^\d.]", package.version, maxsplit=1)[0]


def _unpacked(archives: Sequence[Path], directory: Path, runner: Runner) -> Iterator[int]:
    for count, archive in enumerate(archives, start=1):
        runner.run(
            ["dpkg-deb", "--extract", archive, directory],
            purpose=f"unpacking {archive.name}",
            environment=scrubbed_environment(),
        )
        yield count
