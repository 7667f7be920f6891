"""Cases of refusals: an input that is wrong, and all that the command line says of it."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headway import cli

HERE = Path(__file__).parents[1] / "refusals"
WORKPLACE = "{here}"
"""Stands for the directory that a case is carried out in, whose name differs from run to run."""


@dataclass(frozen=True)
class Ending:
    """What a refused command leaves.

    Attributes:
        status: the exit status.
        complaint: all of standard error.
        output: all of standard output.
        left: files that it wrote, which nothing that is refused does.
    """

    status: int
    complaint: str
    output: str
    left: frozenset[str]


@dataclass(frozen=True)
class Refusal:
    """An input that is refused.

    Attributes:
        file: its text: a study that `headway plan` refuses; or a command's ``arguments``, with the texts of the ``files``
            that it reads, by their names. Those that begin with ``#!`` are executable.
    """

    file: Path

    @property
    def name(self) -> str:
        return str(self.file.relative_to(HERE).with_suffix(""))

    @property
    def golden(self) -> Path:
        """The file that has the message."""
        return self.file.with_suffix(".txt")

    @property
    def message(self) -> str:
        """The message that is expected; empty if there is none yet."""
        return self.golden.read_text(encoding="utf-8") if self.golden.exists() else ""

    @property
    def tables(self) -> dict[str, Any]:
        """The input's tables; none of one that is refused because it is no TOML."""
        try:
            return tomllib.loads(self.file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError:
            return {}

    @property
    def is_command(self) -> bool:
        """Whether the case has arguments of its own: no study has a key of this name."""
        return "arguments" in self.tables

    def ending(self) -> Ending:
        """Carry the case out, in a directory of its own."""
        study = {self.file.name: self.file.read_text(encoding="utf-8")}
        arguments = self.tables.get("arguments", ["plan", self.file.name])
        files: Mapping[str, str] = self.tables.get("files", {}) if self.is_command else study
        with tempfile.TemporaryDirectory() as top:
            place = Path(top).resolve() / "place"
            for name, content in files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_text(content, encoding="utf-8")
                (place / name).chmod(0o755 if content.startswith("#!") else 0o644)
            place.mkdir(exist_ok=True)
            status, complaint, output = _carried_out(arguments, place)
            left = {str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()}
        return Ending(
            status, complaint.replace(str(place), WORKPLACE), output, frozenset(left - {*files})
        )


def cases(names: Collection[str] = ()) -> list[Refusal]:
    """Those of these names or directories, or all of them; in the order of their names."""
    every = [Refusal(file) for file in sorted(HERE.rglob("*.toml"))]
    return [
        case
        for case in every
        if not names or any(Path(case.name).is_relative_to(name) for name in names)
    ]


def rewrite(names: Collection[str] = ()) -> Iterator[Path]:
    """Write messages anew, and remove those without a case; the files that this changes."""
    for case in cases(names):
        complaint = case.ending().complaint
        if complaint != case.message:
            case.golden.write_text(complaint, encoding="utf-8")
            yield case.golden
    for golden in {*HERE.rglob("*.txt")} - {case.golden for case in cases()}:
        golden.unlink()
        yield golden


def _carried_out(arguments: list[str], place: Path) -> tuple[int, str, str]:
    complaint, output = io.StringIO(), io.StringIO()
    variables = {"HEADWAY_CACHE": str(place.parent / "cache"), "COLUMNS": "200"}
    status: object = 0
    with (
        chdir(place),
        patch.dict(os.environ, variables),
        patch.object(sys, "argv", ["headway", *arguments]),
        redirect_stderr(complaint),
        redirect_stdout(output),
    ):
        try:
            cli.main()
        except SystemExit as ended:
            status = ended.code
    return int(str(status or 0)), complaint.getvalue(), output.getvalue()
