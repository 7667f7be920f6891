"""Scripts of the root tree that come from npm's registry: fetched by npm, pinned by version and hash."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headway.image.pinned import fetch_by_npm, pinned_lines
from headway.image.process import Runner

MODULES_DIRECTORY = "usr/share/javascript"
"""Where a tree has them: a directory for each, with its file and its licence."""
_LINE = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9.-]*)@(?P<version>[0-9][0-9A-Za-z.-]*)\s+"
    r"(?P<integrity>sha512-[A-Za-z0-9+/]{86}==)\s+(?P<file>[\w./-]+\.js)"
)
_LICENCE = re.compile(r"package/licen[cs]e[^/]*", re.IGNORECASE)


@dataclass(frozen=True)
class Module:
    """One pinned package.

    Attributes:
        name: of the package.
        version: its version.
        integrity: SHA-512 of what npm fetches, as npm writes it.
        file: which of its files the tree gets.
    """

    name: str
    version: str
    integrity: str
    file: str

    @property
    def package(self) -> str:
        """As adapters of programs state it."""
        return f"{self.name}@{self.version}"

    @property
    def guest_file(self) -> str:
        """Where a lab has the file."""
        return f"/{MODULES_DIRECTORY}/{self.name}-{self.version}/{Path(self.file).name}"


def parse_modules(text: str) -> tuple[Module, ...]:
    """The packages of a list, sorted.

    Raises:
        WrongInputError: a line pins none.
    """
    pins = pinned_lines(text, _LINE, "NAME@VERSION sha512-HASH FILE.js", "the list of modules")
    modules = (Module(**pin.groupdict()) for pin in pins)
    return tuple(sorted(modules, key=lambda module: module.package))


def install_module(
    module: Module, tree: Path, scratch: Path, runner: Runner, say: Callable[[str], None]
) -> None:
    """Put a package's file and its licence into a tree.

    Args:
        module: which.
        tree: the tree.
        scratch: an empty directory for the download; it is removed.
        runner: runs npm.
        say: is told how large the download was.

    Raises:
        HeadwayError: the registry cannot be reached or lacks the package, or its hash is wrong.
    """
    scratch.mkdir()
    purpose = f"downloading {module.package}"
    archive = fetch_by_npm(module.package, module.integrity, scratch, purpose, runner)
    say(f"{module.package}: {archive.stat().st_size / 1e6:.0f} MB downloaded")
    target = tree / module.guest_file.lstrip("/")
    target.parent.mkdir(parents=True)
    with tarfile.open(archive) as content:
        _extract(content, f"package/{module.file}", target)
        for member in filter(_LICENCE.fullmatch, content.getnames()):
            _extract(content, member, target.parent / Path(member).name)
    shutil.rmtree(scratch)


def _extract(content: tarfile.TarFile, member: str, target: Path) -> None:
    source = content.extractfile(member)
    assert source is not None, "its hash is right, so it is a file"
    with source, target.open("wb") as file:
        shutil.copyfileobj(source, file)
