"""Running a root tree's own programs on the host, through the tree's own loader and libraries."""

from __future__ import annotations

from pathlib import Path

from headway.errors import HeadwayError

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_MORE_LIBRARIES = ("pulseaudio",)
"""Directories below it in which programs look by an absolute path, which is the host's."""
_LOADERS = (f"{_LIBRARIES}/ld-linux-x86-64.so.2", "lib64/ld-linux-x86-64.so.2")


def tree_command(root: Path, program: str, *arguments: str) -> list[str]:
    """The command that runs a program of a root tree on the host.

    It runs with the tree's C library and loader, so neither chroot nor root is needed, and the
    host may be older or newer than the tree.

    Args:
        root: the tree.
        program: its name, as ``curl``.
        arguments: its arguments.

    Raises:
        HeadwayError: the tree has no such program.
    """
    programs = (root / f"usr/{directory}/{program}" for directory in ("bin", "sbin"))
    file = next((path for path in programs if path.exists()), None)
    loader = next((root / name for name in _LOADERS if (root / name).exists()), None)
    if file is None or loader is None:
        raise HeadwayError(f"the root tree {root} has no {program}")
    places = (root / _LIBRARIES / name for name in ("", *_MORE_LIBRARIES))
    libraries = ":".join(str(place) for place in places if place.is_dir())
    return [str(loader), "--library-path", libraries, "--argv0", str(file), str(file), *arguments]


def python_version(root: Path) -> str:
    """The version of a root tree's Python, as ``3.14``.

    Raises:
        HeadwayError: the tree has none.
    """
    link = root / "usr/bin/python3"
    if not link.is_symlink():
        raise HeadwayError(f"the root tree {root} has no python3")
    return link.readlink().name.removeprefix("python")


def compile_command(root: Path, directory: Path, shown_as: str, *arguments: str) -> list[str]:
    """The command that compiles Python modules with a root tree's Python.

    The compiled files are never checked against their sources, which saves the guest a system
    call for each module.

    Args:
        root: the tree.
        directory: the modules.
        shown_as: the directory that tracebacks name instead.
        arguments: further options of ``compileall``.
    """
    options = ("-q", "-s", str(directory), "-p", shown_as, "--invalidation-mode", "unchecked-hash")
    return tree_command(
        root,
        f"python{python_version(root)}",
        "-ISBm",
        "compileall",
        *options,
        *arguments,
        str(directory),
    )
