"""What programs from outside consist of, copied into the cache: a build that goes on cannot change it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX, EntryDirectory, cache_directory, remove_tree
from headway.errors import WrongInputError
from headway.image.image import INFO_FILE
from headway.study.outside import BroughtFile, OutsideProgram

STORE, FILES_DIRECTORY = "outside", "files"
_KEPT = 30
"""Programs that stay: labs may be running from the last ones."""


def outside_files(program: OutsideProgram) -> Path:
    """The directory that a lab shows of a program from outside, filled first if it is new.

    Raises:
        WrongInputError: a file has changed since it was read.
        HeadwayError: no space is left.
    """
    store = EntryDirectory(cache_directory() / STORE)
    entry = _kept(store, program)
    if entry is None:
        with store.locked():
            entry = _kept(store, program)
            if entry is None:
                entry = store.make(program.files_key, lambda directory: _fill(program, directory))
                _forget_old(store)
    os.utime(entry)
    return entry / FILES_DIRECTORY


def _kept(store: EntryDirectory, program: OutsideProgram) -> Path | None:
    """The entry of a program, as it was made here or received from another machine; None if there is none."""
    key = program.files_key
    found = (store.entry(key), *sorted(store.directory.glob(f"{key}-*")))
    whole = (one for one in found if one.is_dir() and not one.name.endswith(PARTIAL_SUFFIX))
    return next(whole, None)


def _fill(program: OutsideProgram, directory: Path) -> None:
    (directory / INFO_FILE).write_text(json.dumps({"key": program.files_key}))
    (directory / FILES_DIRECTORY).mkdir()
    for one in program.files:
        _copy(one, directory / FILES_DIRECTORY / one.place, program.where)


def _copy(one: BroughtFile, target: Path, where: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(one.source, target)
    target.chmod(0o755 if one.executable else 0o644)
    with target.open("rb") as copied:
        if hashlib.file_digest(copied, "sha256").hexdigest() != one.sha256:
            raise WrongInputError(f"{one.source} has changed meanwhile; begin again", where=where)


def _forget_old(store: EntryDirectory) -> None:
    entries = [one for one in store.directory.iterdir() if one.is_dir()]
    newest = sorted(entries, key=lambda one: one.stat().st_mtime_ns, reverse=True)
    for old in newest[_KEPT:]:
        remove_tree(old)
