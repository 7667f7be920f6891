"""The Go toolchain of this machine: whether it is new enough, and compiling with it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from headway.image.process import Runner, user_environment
from headway.image.progress import BuildProgress

_MODULE_FILE = "go.mod"
_NEEDED = re.compile(r"^go (\S+)$", re.MULTILINE)
_REQUIRED = re.compile(r"^(?:require )?\s*(\S+) v(\S+)", re.MULTILINE)
# A static program that depends on its sources and on the version of Go alone. Another Go than the
# machine's is not downloaded.
_ENVIRONMENT = {
    "CGO_ENABLED": "0",
    "GOOS": "linux",
    "GOARCH": "amd64",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}
OWN_PACKAGE = "."
"""The program that a module itself is."""
_OPTIONS = ("-trimpath", "-buildvcs=false", "-ldflags=-s")


def go_version() -> str | None:
    """The machine's Go, as ``1.26.8``; None if it has none."""
    environment = user_environment(**_ENVIRONMENT)
    if shutil.which("go", path=environment["PATH"]) is None:
        return None
    asked = subprocess.run(
        ["go", "env", "GOVERSION"],
        capture_output=True,
        check=False,
        cwd="/",
        env=environment,
        encoding="utf-8",
    )
    words = asked.stdout.split() if asked.returncode == 0 else []
    return words[0].removeprefix("go") if words else None


def needed_go_version(sources: Path) -> str:
    """The oldest Go that a module can be compiled with, as its ``go.mod`` says."""
    texts: list[str] = _NEEDED.findall((sources / _MODULE_FILE).read_text(encoding="utf-8"))
    return texts[0]


def required_modules(sources: Path) -> dict[str, str]:
    """Versions of the modules that a module requires, by their paths."""
    return dict(_REQUIRED.findall((sources / _MODULE_FILE).read_text(encoding="utf-8")))


def obstacle(version: str | None, needed: str) -> str | None:
    """Why a Go cannot compile what needs another; None if it can."""
    if version is None:
        return f"no go in PATH; Go {needed} or later is needed"
    if _numbers(version) < _numbers(needed):
        return f"go {version} is older than {needed}"
    return None


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, which compare as versions do."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def compile_program(
    sources: Path,
    program: Path,
    runner: Runner,
    progress: BuildProgress,
    package: str = OWN_PACKAGE,
    *,
    offline: bool = False,
) -> None:
    """Compile a module to a static program.

    Args:
        sources: the module.
        program: the file to make.
        runner: runs Go.
        progress: is told how it goes.
        package: the program's: the module itself, or one of a module that it requires.
        offline: only modules that this machine has already are used.

    Raises:
        HeadwayError: the module proxy that Go is configured with cannot be reached, a module is
            not what ``go.sum`` says, or the compilation fails.
    """
    nowhere = {"GOPROXY": "off"} if offline else {}
    environment = user_environment(**_ENVIRONMENT, **nowhere)

    def go(purpose: str, *words: str | Path, on_line: Callable[[str], None] | None = None) -> None:
        runner.run(
            ["go", *words],
            purpose=f"{purpose} {program.name}",
            environment=environment,
            directory=sources,
            on_line=on_line,
        )

    progress.step(f"downloading the Go modules of {program.name}")
    go("downloading the Go modules of", "mod", "download", *required_modules(sources))
    progress.step(f"compiling {program.name}")
    packages: list[str] = []
    go("listing the Go packages of", "list", "-deps", package, on_line=packages.append)
    compiled = 0

    def count(_: str) -> None:
        nonlocal compiled
        compiled += 1
        progress.advance(min(compiled / len(packages), 0.99))

    go("compiling", "build", "-v", *_OPTIONS, "-o", program, package, on_line=count)
