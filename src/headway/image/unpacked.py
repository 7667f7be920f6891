"""Packages and wheels, unpacked into a tree but not installed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.errors import counted
from headway.image.infos import TREE_DIRECTORY
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress
from headway.image.selection import Chosen
from headway.image.treeprogram import compile_command
from headway.image.wheels import Wheel, install_wheel

MERGED = ("bin", "sbin", "lib", "lib64")
"""Directories of a root tree that are links to those of the same name in ``usr``."""
STATUS_FILE = "var/lib/dpkg/status"
"""Which packages a tree has."""
DIST_PACKAGES = "usr/lib/python3/dist-packages"
# Nothing that runs in a lab reads these; they are more than half of the packages' files.
_LEFT_OUT = (
    "./usr/share/doc/*",
    "./usr/share/doc-base/*",
    "./usr/share/info/*",
    "./usr/share/man/*",
    "./usr/share/locale/*",
    "./usr/share/lintian/*",
    "./usr/share/bug/*",
    "./usr/share/bash-completion/*",
    "./usr/share/zoneinfo/*",
    "./usr/share/icons/*",
    "./usr/share/perl/*",
    "./usr/lib/systemd/*",
    "./usr/lib/x86_64-linux-gnu/gconv/*",
)
# Modules that are of no use in a lab are not compiled.
_NOT_COMPILED = r"/(test|tests|idlelib|lib2to3|ensurepip|pydoc_data|turtledemo)/"
_TOLD = ("Package", "Version", "Architecture", "Multi-Arch", "Source", "Provides")


def unpack_all(
    chosen: Sequence[Chosen],
    wheels: Iterable[Wheel],
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> dict[str, str]:
    """Unpack packages and wheels into the tree of an entry that is being made.

    Args:
        chosen: the packages, and where they come from.
        wheels: the wheels.
        directory: the entry; it has a directory ``tree``.
        runner: runs the tools.
        progress: is told how it goes.

    Returns:
        The versions of all packages in the tree, Debian's and wheels.

    Raises:
        HeadwayError: no space, no network, or a package that does not exist.
    """
    tree = directory / TREE_DIRECTORY
    for name in MERGED:
        (tree / "usr" / name).mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(f"usr/{name}")
    archives: list[tuple[Path, Path]] = []
    beside: dict[str, str] = {}
    for part in chosen:
        if not part.packages:
            continue
        progress.step(f"downloading {counted(len(part.packages), 'package')} of {part.apt.suite}")
        place = tree / "opt" / part.apt.suite if part.beside else tree
        archives += [(file, place) for file in part.apt.download(part.packages, progress.advance)]
        if part.beside:
            beside |= {
                f"{package.name}@{part.apt.suite}": package.version for package in part.packages
            }
    progress.step("unpacking packages")
    status = []
    for count, (archive, place) in enumerate(archives, start=1):
        stanza = _unpack(archive, place, runner)
        status += [stanza] if place == tree else []
        progress.advance(count / len(archives))
    (tree / STATUS_FILE).parent.mkdir(parents=True, exist_ok=True)
    (tree / STATUS_FILE).write_text("\n".join(status), encoding="utf-8")
    for wheel in wheels:
        progress.step(f"downloading {wheel.name} {wheel.version}")
        install_wheel(wheel, tree, directory / wheel.name, runner, progress.note)
    return versions(tree) | beside | {wheel.name: wheel.version for wheel in wheels}


def versions(tree: Path) -> dict[str, str]:
    """Versions of the packages in a tree, by name, from its dpkg status."""
    texts = {}
    for stanza in (tree / STATUS_FILE).read_text(encoding="utf-8").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        if "Package" in fields:
            texts[fields["Package"]] = fields["Version"]
    return dict(sorted(texts.items()))


def installed(tree: Path) -> str:
    """A tree's packages as apt reads of those that are installed."""
    text = (tree / STATUS_FILE).read_text(encoding="utf-8")
    return text.replace("install ok unpacked", "install ok installed") + "\n"


def _unpack(archive: Path, tree: Path, runner: Runner) -> str:
    """Unpack a package; its stanza for the dpkg status."""
    tree.mkdir(parents=True, exist_ok=True)
    fields: list[str] = []
    runner.run(
        ["dpkg-deb", "--field", archive, *_TOLD],
        purpose=f"reading {archive.name}",
        environment=scrubbed_environment(),
        on_line=fields.append,
    )
    left_out = " ".join(f"--exclude='{pattern}'" for pattern in _LEFT_OUT)
    runner.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-ec",
            'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink'
            f" --no-same-owner --delay-directory-restore {left_out}",
            "unpack",
            archive,
            tree,
        ],
        purpose=f"unpacking {archive.name}",
        environment=scrubbed_environment(),
    )
    return "\n".join([*fields, "Status: install ok unpacked"]) + "\n"


def open_to_everyone(tree: Path) -> None:
    """Let everyone read a tree, and nobody write to it but its owner."""
    for parent, _, names in os.walk(tree):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                continue
            runs = stat.S_ISDIR(mode) or mode & 0o111
            # Setuid programs and directories that anyone may write to would be so on the host.
            path.chmod((mode & 0o755) | 0o644 | (0o111 if runs else 0))


def cache_libraries(tree: Path, runner: Runner) -> None:
    """Have the loader find a tree's libraries."""
    runner.run(
        [tree / "usr/sbin/ldconfig", "-X", "-r", tree],
        purpose="caching the root tree's libraries",
        environment=scrubbed_environment(),
    )
    # It tells when this machine made which file, and where.
    (tree / "var/cache/ldconfig/aux-cache").unlink(missing_ok=True)


def compile_python(root: Path, tree: Path, library: str, runner: Runner) -> None:
    """Compile a tree's Python modules.

    Args:
        root: the tree whose Python compiles them.
        tree: the tree that has them.
        library: their directory in it; nothing is done if there is none.
        runner: runs Python.
    """
    if (tree / library).is_dir():
        runner.run(
            compile_command(root, tree / library, f"/{library}", "-x", _NOT_COMPILED),
            purpose="compiling the root tree's Python library",
            environment=scrubbed_environment(),
        )
