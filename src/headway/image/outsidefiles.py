"""Files of programs from outside, copied into the cache: a build that goes on cannot change it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from headway.errors import WrongInputError
from headway.image.infos import INFO_FILE
from headway.image.kept import kept
from headway.study.user_programs import BroughtFile, OutsideProgram

STORE, FILES_DIRECTORY = "outside", "files"
_KEPT = 30


def outside_files(program: OutsideProgram) -> Path:
    """The directory that a lab shows of a program from outside, filled first if it is new.

    Raises:
        WrongInputError: a file has changed since it was read.
        HeadwayError: no space is left.
    """
    entry = kept(STORE, program.files_key, lambda directory: _fill(program, directory), _KEPT)
    return entry / FILES_DIRECTORY


def _fill(program: OutsideProgram, directory: Path) -> None:
    (directory / INFO_FILE).write_text(json.dumps({"key": program.files_key}), encoding="utf-8")
    (directory / FILES_DIRECTORY).mkdir()
    for file in program.files:
        _copy(file, directory / FILES_DIRECTORY / file.place, program.where)


def _copy(brought_file: BroughtFile, target: Path, where: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(brought_file.source, target)
    target.chmod(0o755 if brought_file.executable else 0o644)
    with target.open("rb") as copied:
        if hashlib.file_digest(copied, "sha256").hexdigest() != brought_file.sha256:
            raise WrongInputError(
                f"{brought_file.source} has changed meanwhile; begin again", where=where
            )
