"""Pinned files of package registries: by name, version and hash, fetched by the pip or the npm of the machine.

Registries, proxies and certificates are those that pip and npm are configured with.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError
from headway.image.process import Runner, user_environment

_DOWNLOAD = re.compile(r"^\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+ \w?B)\)")
_NO_VERSION = re.compile(r"\(from versions: none\)")
_NO_ANSWER = re.compile(r"\b(E404|ETARGET|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT)\b")


def pinned_lines(text: str, form: re.Pattern[str], words: str, where: str) -> list[re.Match[str]]:
    """The lines of a list, without comments and blank ones.

    Args:
        text: the list.
        form: of a line that pins something.
        words: the form for people.
        where: the list, as in "the list of wheels".

    Raises:
        WrongInputError: a line has another form.
    """
    pins = []
    for number, line in enumerate(text.splitlines(), start=1):
        if entry := line.split("#", 1)[0].strip():
            match = form.fullmatch(entry)
            if match is None:
                raise WrongInputError(
                    f"must be {words}, not {entry!r}", where=f"line {number} of {where}"
                )
            pins.append(match)
    return pins


def fetch_by_pip(
    command: Sequence[str | Path],
    requirements: Sequence[str],
    purpose: str,
    runner: Runner,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Have the running Python's pip fetch pinned packages, without what they need; it holds them against their hashes.

    Args:
        command: of pip, with its options.
        requirements: lines of a requirements file, with hashes.
        purpose: what fails if it fails, as in "downloading aioquic@1.2.0".
        runner: runs pip.
        say: is given each file's name and size, before it is downloaded.

    Raises:
        HeadwayError: this Python has no pip, the index cannot be reached or lacks a package, or a hash is wrong.
    """
    if importlib.util.find_spec("pip") is None:
        raise HeadwayError(
            f"{purpose} needs pip, which {sys.executable} lacks; `{sys.executable} -m ensurepip` installs it"
        )
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write("".join(f"{line}\n" for line in requirements))
        file.flush()
        options = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
        pinned = ("--no-deps", "--require-hashes", "--requirement", file.name)
        argv = [sys.executable, "-m", "pip", *command, *options, *pinned]
        index = "the package index that pip is configured with"
        _run(argv, purpose, runner, _NO_VERSION, index, on_line=partial(_say_size, say))


def _say_size(say: Callable[[str], None], line: str) -> None:
    if download := _DOWNLOAD.search(line):
        say(f"{download['file']}: {download['size']} to download")


def fetch_by_npm(
    package: str, integrity: str, directory: Path, purpose: str, runner: Runner
) -> Path:
    """Have npm fetch a package's archive, and hold it against its hash.

    Args:
        package: its name and version, as in "dashjs@5.2.1".
        integrity: its hash as npm writes it: the algorithm and the digest in base64.
        directory: an empty directory.
        purpose: what fails if it fails.
        runner: runs npm.

    Raises:
        HeadwayError: the registry cannot be reached or lacks the package, or its hash is wrong.
    """
    argv: list[str | Path] = [
        "npm",
        "pack",
        package,
        "--ignore-scripts",
        "--pack-destination",
        directory,
    ]
    registry = "the registry that npm is configured with"
    _run(argv, purpose, runner, _NO_ANSWER, registry, directory=directory)
    archive = next(directory.glob("*.tgz"))
    algorithm = integrity.split("-", 1)[0]
    computed = hashlib.new(algorithm, archive.read_bytes()).digest()
    if integrity != (text := f"{algorithm}-{base64.b64encode(computed).decode()}"):
        raise HeadwayError(
            f"{package} is not what it was: its hash is {text}, not {integrity} ({purpose})"
        )
    return archive


def _run(
    argv: Sequence[str | Path],
    purpose: str,
    runner: Runner,
    unreachable: re.Pattern[str],
    registry: str,
    *,
    directory: Path | None = None,
    on_line: Callable[[str], None] = lambda _: None,
) -> None:
    """Run a client; of a registry that does not answer it says so in words of its own, often many."""
    lines: list[str] = []

    def read(line: str) -> None:
        lines.append(line)
        on_line(line)

    try:
        runner.run(
            argv,
            purpose=purpose,
            environment=user_environment(),
            directory=directory,
            on_line=read,
        )
    except HeadwayError as error:
        if not any(map(unreachable.search, lines)):
            raise
        raise HeadwayError(
            f"{purpose} failed: {registry} cannot be reached, or does not have it (log: {runner.log})"
        ) from error
