"""Releases of Python packages beside Debian's, in directories of their own: fetched by pip, pinned by version and hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headway.errors import WrongInputError
from headway.image.pinned import fetch_by_pip, pinned_lines
from headway.image.process import Runner, scrubbed_environment
from headway.image.treeprogram import compile_command

_REQUIREMENT = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[0-9][0-9A-Za-z.]*)(\s+--hash=sha256:[0-9a-f]{64})+"
)


@dataclass(frozen=True)
class Release:
    """A release of a Python package, with what it needs that the root tree lacks.

    Attributes:
        layer: its layer, which has no other.
        name: of the package.
        version: its version.
        requirements: the lines of a requirements file that pin it and what it needs.
    """

    layer: str
    name: str
    version: str
    requirements: tuple[str, ...]

    @property
    def package(self) -> str:
        """As adapters of programs state it."""
        return f"{self.name}@{self.version}"

    @property
    def guest_directory(self) -> str:
        """Where a lab has it: a directory for ``PYTHONPATH``."""
        return f"/opt/{self.layer}"


def parse_release(layer: str, text: str) -> Release:
    """The release of a layer: the first line pins it, the others what it needs.

    Raises:
        WrongInputError: a line pins no wheel, or the first one is not of the layer's name.
    """
    words, where = "NAME==VERSION --hash=sha256:HASH", "the list of releases"
    pinned = pinned_lines(text, _REQUIREMENT, words, where)
    if not pinned or f"{pinned[0]['name']}-{pinned[0]['version']}" != layer:
        raise WrongInputError(f"[{layer}] must begin with the release that it names", where=where)
    lines = tuple(match.group() for match in pinned)
    return Release(layer, pinned[0]["name"], pinned[0]["version"], lines)


def install_release(release: Release, root: Path, tree: Path, runner: Runner) -> None:
    """Put a release into a tree, compiled for the root tree's Python.

    Args:
        release: which.
        root: the tree whose Python will run it.
        tree: the tree that is given it.
        runner: runs pip and Python.

    Raises:
        HeadwayError: this Python has no pip, the index cannot be reached or lacks the wheel, or its hash is wrong.
    """
    target = tree / release.guest_directory.lstrip("/")
    target.mkdir(parents=True)
    options = ("--only-binary", ":all:", "--no-compile", "--root-user-action", "ignore")
    command = ("install", *options, "--target", target)
    fetch_by_pip(command, release.requirements, f"downloading {release.package}", runner)
    runner.run(
        compile_command(root, target, release.guest_directory),
        purpose=f"compiling {release.package}",
        environment=scrubbed_environment(),
    )
