"""Headway's own programs: a Rust workspace, compiled by cargo."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.keys import NativeInputs
from headway.image.process import Runner, user_environment
from headway.image.progress import BuildProgress
from headway.image.toolchain import Toolchain

_TARGET = "x86_64-unknown-linux-gnu"
_COUNTED = re.compile(r"\s*Building \[.*?\] (?P<done>\d+)/(?P<all>\d+)")
_UNREACHABLE = re.compile(
    r"spurious network error|failed to download|failed to query|\[\d+\] Could"
)
# Linked statically: this machine's C library may be newer than the lab's, and a program that
# needs no loader starts with fewer system calls, which cost a lab most. Flags of the user's
# would not be part of the key.
_LINKED = "-Ctarget-feature=+crt-static"
_BETWEEN_FLAGS = "\x1f"
_ENVIRONMENT = {
    "CARGO_TERM_COLOR": "never",
    "CARGO_TERM_PROGRESS_WHEN": "always",
    "CARGO_TERM_PROGRESS_WIDTH": "80",
}


def build_native(
    inputs: NativeInputs,
    programs: Sequence[str],
    toolchain: Toolchain,
    cargo_directory: Path,
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> None:
    """Compile programs of Headway's own.

    Args:
        inputs: the workspace.
        programs: their names.
        toolchain: what compiles them.
        cargo_directory: what was compiled before, which shortens this compilation; it is added to.
        directory: is given the programs.
        runner: runs cargo.
        progress: is told how it goes.

    Raises:
        HeadwayError: crates cannot be downloaded, ``Cargo.lock`` does not fit, or the compilation
            fails.
    """
    workspace, target = cargo_directory / "workspace", cargo_directory / "target"
    _write_sources(inputs.sources, workspace)
    cargo = _Cargo(workspace, toolchain, target, runner)
    progress.step("downloading the crates of Headway's own programs")
    _fetch(cargo)
    progress.step(f"compiling {_in_words(programs)}")

    def count(line: str) -> None:
        if match := _COUNTED.match(line):
            progress.advance(int(match["done"]) / int(match["all"]))

    chosen = (word for name in programs for word in ("--package", name))
    cargo("compiling", "build", "--release", "--bins", *chosen, "--target", _TARGET, on_line=count)
    for name in programs:
        shutil.copy(target / _TARGET / "release" / name, directory / name)


def _in_words(programs: Sequence[str]) -> str:
    return programs[0] if len(programs) == 1 else "Headway's own programs"


def _write_sources(sources: Sequence[tuple[str, bytes]], workspace: Path) -> None:
    """Make a copy of the sources that the programs' key is of, whatever is edited meanwhile.

    Only what differs is written: cargo compiles what is younger than what it made of it, and would
    be misled by the times of another source tree's files.
    """
    wanted = {workspace / name: content for name, content in sources}
    for file in [path for path in workspace.rglob("*") if path.is_file() and path not in wanted]:
        file.unlink()
    for file, content in wanted.items():
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


@dataclass(frozen=True)
class _Cargo:
    workspace: Path
    toolchain: Toolchain
    target: Path
    runner: Runner

    def __call__(
        self, doing: str, *words: str, on_line: Callable[[str], None] | None = None
    ) -> None:
        self.runner.run(
            ["cargo", *words, "--locked"],
            purpose=f"{doing} Headway's own programs",
            environment={
                **self.toolchain.environment(user_environment(**_ENVIRONMENT)),
                "CARGO_TARGET_DIR": str(self.target),
                "CARGO_ENCODED_RUSTFLAGS": _BETWEEN_FLAGS.join(self._flags()),
            },
            directory=self.workspace,
            on_line=on_line,
        )

    def _flags(self) -> Iterator[str]:
        """Flags of the compiler: messages of panics name files, and where they were is nobody's business."""
        yield _LINKED
        yield f"--remap-path-prefix={self.workspace}=/headway"
        registries = _cargo_home() / "registry" / "src"
        for registry in sorted(registries.iterdir()) if registries.is_dir() else ():
            yield f"--remap-path-prefix={registry}=/crates"


def _cargo_home() -> Path:
    return Path(user_environment().get("CARGO_HOME") or Path.home() / ".cargo")


def _fetch(cargo: _Cargo) -> None:
    lines: list[str] = []
    doing = "downloading the crates of"
    try:
        cargo(doing, "fetch", "--target", _TARGET, on_line=lines.append)
    except HeadwayError as error:
        if not any(_UNREACHABLE.search(line) for line in lines):
            raise
        raise HeadwayError(
            f"{doing} Headway's own programs failed: the registry that cargo is configured with"
            f" cannot be reached; it is needed only when crates change (log: {cargo.runner.log})"
        ) from error
