"""Headway's own files of a root tree: compiled here, unless they were shipped."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from headway.cache import digest
from headway.image.process import Runner, scrubbed_environment
from headway.image.shipped import shipped
from headway.image.toolchain import KEY, Toolchain

_HERE = Path(__file__).parent
# They may use nothing of the toolchain's C library, which need not be the tree's.
_COMPILER = ("gcc", "-O2", "-nostdlib", "-fno-stack-protector")


@dataclass(frozen=True)
class _OwnFile:
    """A file that is compiled from one source, which has its name.

    Attributes:
        place: where it is in the tree.
        options: of the compiler.
    """

    place: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(self.place).name

    @property
    def source(self) -> Path:
        return _HERE / f"{Path(self.place).stem}.c"


_OWN = (
    _OwnFile("usr/lib/headway/random_device.so", ("-fPIC", "-shared")),
    _OwnFile("lab/init", ("-static", "-fno-pie", "-no-pie", "-ffreestanding")),
)


def own_name() -> str:
    """The name of the part that they are, with the key of their sources."""
    options = (word for own in _OWN for word in (own.place, *own.options))
    sources = (own.source.read_bytes() for own in _OWN)
    return f"init-{digest(KEY, *_COMPILER, *options, *sources)}"


def compile_own(directory: Path, toolchain: Toolchain, runner: Runner) -> None:
    """Compile them, all into one directory.

    Raises:
        HeadwayError: a compilation fails.
    """
    for own in _OWN:
        runner.run(
            [*_COMPILER, *own.options, "-o", directory / own.name, own.source],
            purpose=f"compiling the root tree's {own.source.stem}",
            environment=toolchain.environment(scrubbed_environment()),
        )


def add_own(tree: Path, directory: Path, toolchain: Toolchain | None, runner: Runner) -> None:
    """Put them into a root tree.

    Args:
        tree: the tree.
        directory: for what is compiled; nothing of it stays.
        toolchain: what compiles them; None if they were shipped.
        runner: runs the compiler.

    Raises:
        HeadwayError: a compilation fails.
    """
    made = shipped(own_name())
    if made is None:
        assert toolchain is not None, "it was brought"
        made = directory / "own"
        made.mkdir()
        compile_own(made, toolchain, runner)
    for own in _OWN:
        (tree / own.place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made / own.name, tree / own.place)
    shutil.rmtree(directory / "own", ignore_errors=True)


def are_shipped() -> bool:
    """Whether nothing is to be compiled."""
    return shipped(own_name()) is not None
