"""The toolchain: what compiles the lab kernel and Headway's own programs, the same on every machine.

Debian's packages of one suite, unpacked into the cache and not installed. Nothing of what is made
depends on the compilers that a machine has, and it needs none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.cache import digest
from headway.image.apt import PrivateApt
from headway.image.infos import ToolchainInfo
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress

SUITE = "bookworm"
"""Its programs run on every Debian and Ubuntu that is younger."""
_COMPILER = "gcc-12"
_LINKER = "binutils"
# Rust under the name of the newer one which the web browsers of that Debian are compiled with.
_RUST = "rustc-web"
_PACKAGES = (
    *(_COMPILER, _LINKER, "libc6-dev", "make", "patch", "flex", "bison", "bc", "xz-utils"),
    *(_RUST, "cargo-web", "rust-web-clippy", "rustfmt-web"),
)
# What packages depend on and no compilation uses.
_LEFT_OUT = (
    *("ca-certificates", "debconf", "dpkg", "gcc", "install-info", "perl", "sensible-utils", "tar"),
    *("libcrypt-dev", "libnsl-dev", "rpcsvc-proto"),
    *("libasan8", "liblsan0", "libtsan2", "libubsan1"),
)
_TREE, _PROGRAMS, _LIBRARIES = "tree", "bin", "lib"
_LIBRARY_PLACES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
_C_LIBRARY = "libc6"
# Debian's gcc finds its own files wherever it is, but those of the C library in / only.
_WRAPPER = """\
#!/bin/sh
tree=${{0%/*}}/../{tree}
exec "$tree/usr/bin/x86_64-linux-gnu-{compiler}" --sysroot="$tree" "$@"
"""
_RECIPE = "1"
"""To be changed whenever `bring_toolchain` makes another one of the same packages."""
KEY = digest(_RECIPE, SUITE, *_PACKAGES, *_LEFT_OUT, _WRAPPER)
"""A hash of what says which toolchain it is; whatever it makes depends on it."""
# What a user sets to compile otherwise, and would be no part of a key.
_CHOICES = re.compile(
    r"(HOST|TARGET)?_?(CC|CXX|AR|LD)|(C|CPP|CXX|LD)FLAGS|(C|CPLUS)_INCLUDE_PATH"
    r"|CPATH|LIBRARY_PATH|COMPILER_PATH|GCC_EXEC_PREFIX|RUSTC(_WORKSPACE)?(_WRAPPER)?"
    r"|(CARGO_ENCODED_)?RUSTFLAGS|CARGO_BUILD_(RUSTC|RUSTFLAGS|TARGET)\w*|CARGO_TARGET_X86_64\w*"
)


@dataclass(frozen=True)
class Toolchain:
    """The toolchain in the cache.

    Attributes:
        entry: its directory there.
        info: which one it is.
    """

    entry: Path
    info: ToolchainInfo

    @property
    def compiler(self) -> str:
        """The C compiler and its linker, as ``gcc 12.2.0-14+deb12u1, binutils 2.40-2``."""
        versions = self.info.packages
        return f"gcc {versions[_COMPILER]}, binutils {versions[_LINKER]}"

    @property
    def rust(self) -> str:
        """The version of its Rust, as ``1.85.0``: without Debian's addition to it."""
        return re.split(r"[^\d.]", self.info.packages[_RUST], maxsplit=1)[0]

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """An environment in which every tool that the toolchain has is its own.

        Args:
            base: all else; what chooses other tools is left out.
        """
        tree = self.entry / _TREE
        kept = {name: value for name, value in base.items() if not _CHOICES.fullmatch(name)}
        programs = (self.entry / _PROGRAMS, tree / "usr/bin", base["PATH"])
        return kept | {
            "PATH": os.pathsep.join(str(place) for place in programs),
            "LD_LIBRARY_PATH": str(self.entry / _LIBRARIES),
            "M4": str(tree / "usr/bin/m4"),
            "BISON_PKGDATADIR": str(tree / "usr/share/bison"),
        }


def toolchain_apt(directory: Path, mirror: str, runner: Runner) -> PrivateApt:
    """The apt that can fetch the toolchain."""
    return PrivateApt(directory, mirror, SUITE, runner, _LEFT_OUT)


def bring_toolchain(apt: PrivateApt, entry: Path, progress: BuildProgress) -> dict[str, str]:
    """Unpack the toolchain into a directory; nothing is installed.

    Args:
        apt: of `toolchain_apt`.
        entry: where.
        progress: is told how it goes.

    Returns:
        Versions of all its packages, by name.

    Raises:
        HeadwayError: no network, no space, or the mirror lacks the suite.
    """
    progress.step(f"reading the package list of {apt.suite}")
    apt.update(progress.advance)
    packages = apt.closure(_PACKAGES)
    progress.step(f"downloading the toolchain of Debian {apt.suite}")
    archives = apt.download(packages, progress.advance)
    progress.step("unpacking the toolchain")
    for name in (_TREE, _PROGRAMS, _LIBRARIES):
        (entry / name).mkdir()
    for done in _unpacked(archives, entry / _TREE, apt.runner):
        progress.advance(done / len(archives))
    _link_within(entry / _TREE)
    for name in ("gcc", "cc"):
        wrapper = entry / _PROGRAMS / name
        wrapper.write_text(_WRAPPER.format(tree=_TREE, compiler=_COMPILER), encoding="utf-8")
        wrapper.chmod(0o755)
    libc = next(
        package_version for package_version in packages if package_version.name == _C_LIBRARY
    )
    _link_libraries(entry, _files(apt, archives[packages.index(libc)]))
    return {package.name: package.version for package in packages}


def _unpacked(archives: Sequence[Path], directory: Path, runner: Runner) -> Iterator[int]:
    for count, archive in enumerate(archives, start=1):
        runner.run(
            ["dpkg-deb", "--extract", archive, directory],
            purpose=f"unpacking {archive.name}",
            environment=scrubbed_environment(),
        )
        yield count


def _link_within(tree: Path) -> None:
    """Have no link of a tree lead to this machine's files: its linker would follow it."""
    for parent, directories, names in os.walk(tree):
        for link in (Path(parent, name) for name in (*directories, *names)):
            if link.is_symlink() and (target := link.readlink()).is_absolute():
                link.unlink()
                link.symlink_to(os.path.relpath(tree / target.relative_to("/"), parent))


def _files(apt: PrivateApt, archive: Path) -> frozenset[str]:
    """The names of a package's files, without their directories."""
    lines: list[str] = []
    apt.runner.run(
        ["bash", "-o", "pipefail", "-ec", 'dpkg-deb --fsys-tarfile "$1" | tar -t', "list", archive],
        purpose=f"reading {archive.name}",
        environment=scrubbed_environment(),
        on_line=lines.append,
    )
    return frozenset(Path(line).name for line in lines)


def _link_libraries(entry: Path, of_libc: frozenset[str]) -> None:
    """Put the libraries that the tools need in a place of its own.

    The C library stays out: programs start with the machine's, of which there must be one alone.
    """
    for place in _LIBRARY_PLACES:
        for library in (entry / _TREE / place).glob("*.so*"):
            if library.name not in of_libc and library.is_file():
                (entry / _LIBRARIES / library.name).symlink_to(
                    Path("..", _TREE, place, library.name)
                )
