"""Compilers of this machine: which version they say they are, and whether it is new enough."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_NUMBER = re.compile(r"\d+")


def answer(argv: Sequence[str], environment: Mapping[str, str], directory: Path) -> str | None:
    """What a program prints when it is asked; None if it is not there or does not work.

    Args:
        argv: the question, as ``rustc --version``.
        environment: its whole environment; ``PATH`` says where the program is looked for.
        directory: its working directory.
    """
    if shutil.which(argv[0], path=environment["PATH"]) is None:
        return None
    asked = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
        env=dict(environment),
        encoding="utf-8",
    )
    return asked.stdout.strip() if asked.returncode == 0 else None


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, which compare as versions do."""
    return tuple(int(number) for number in _NUMBER.findall(version))


def obstacle(language: str, command: str, version: str | None, needed: str) -> str | None:
    """Why a compiler cannot compile what needs another; None if it can.

    Args:
        language: what it compiles, as ``Go``.
        command: what it is called, as ``go``.
        version: its version, or None if it is not there.
        needed: the oldest version that can.
    """
    if version is None:
        return f"no {command} in PATH; {language} {needed} or later is needed"
    if numbers(version) < numbers(needed):
        return f"{command} {version} is older than {needed}"
    return None
