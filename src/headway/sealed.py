"""Seals of a cache's entries: what their files were when they were made, so that any change is noticed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX

CONTENT_FILE = "content.json"
_State = tuple[int, int, str]
"""Of a file: its size, when it was written, and its SHA-256; of a link a hash of where it leads."""
_States = dict[str, _State]


def seal(entry: Path) -> None:
    """Write down what an entry consists of.

    Raises:
        OSError: that cannot be read or written.
    """
    _write(entry, {name: _state(entry / name) for name in _names(entry)})


def is_whole(entry: Path, needed: Iterable[str]) -> bool:
    """Whether an entry has what it needs, and its files look as they did when it was made.

    One of an earlier Headway is sealed now, as it is, where it can be written to.

    Args:
        entry: its directory.
        needed: files and directories without which it is none.
    """
    if any(not (looks := _looks(entry / name)) or not looks[0] for name in needed):
        return False
    if not (entry / CONTENT_FILE).exists():
        with suppress(OSError):
            seal(entry)
    return not damages(entry, whole=False)


def damages(entry: Path, *, whole: bool) -> list[str]:
    """The files of an entry that are gone, new or others than when it was made; none of one that was never sealed.

    Args:
        entry: its directory.
        whole: whether all are read. Otherwise only those whose size or time is another one: a copy of a cache has
            other times, and is as good.
    """
    try:
        sealed = (entry / CONTENT_FILE).stat()
    except OSError:
        return []
    if whole:
        return _damages(entry, lambda _state, _name: False)
    return list(_by_times(entry, sealed.st_mtime_ns, sealed.st_ino))


@lru_cache(maxsize=64)
def _by_times(entry: Path, _sealed_ns: int, _inode: int) -> tuple[str, ...]:
    """Once a process, and again when it was made anew."""
    return tuple(_damages(entry, lambda state, name: _looks(entry / name) == state[:2]))


def _damages(entry: Path, is_trusted: Callable[[_State, str], bool]) -> list[str]:
    try:
        value = json.loads((entry / CONTENT_FILE).read_bytes())
        states: _States = {name: (size, at_ns, key) for name, (size, at_ns, key) in value.items()}
    except (ValueError, TypeError, AttributeError):
        return [CONTENT_FILE]
    texts, moved = [], dict(states)
    for name, state in states.items():
        if is_trusted(state, name):
            continue
        now = _state_or_none(entry / name)
        if now is None or (now[0], now[2]) != (state[0], state[2]):
            texts.append(name)
        else:
            moved[name] = now
    texts += [name for name in _names(entry) if name not in states]
    if not texts and moved != states:
        with suppress(OSError):
            _write(entry, moved)
    return texts


def _write(entry: Path, states: _States) -> None:
    partial = entry / f".{CONTENT_FILE}.{os.getpid()}{PARTIAL_SUFFIX}"
    partial.write_text(json.dumps(states, separators=(",", ":")), encoding="utf-8")
    partial.replace(entry / CONTENT_FILE)


def _names(entry: Path) -> Iterator[str]:
    for place, directories, files in os.walk(entry):
        links = [name for name in directories if Path(place, name).is_symlink()]
        for name in sorted((*files, *links)):
            path = str(Path(place, name).relative_to(entry))
            if path != CONTENT_FILE and not path.endswith(PARTIAL_SUFFIX):
                yield path


def _looks(file: Path) -> tuple[int, int] | None:
    """Its size and its time; none of what is not there."""
    try:
        result = file.lstat()
    except OSError:
        return None
    return result.st_size, result.st_mtime_ns


def _state(file: Path) -> _State:
    result = file.lstat()
    if file.is_symlink():
        key = hashlib.sha256(os.fsencode(file.readlink())).hexdigest()
    else:
        with file.open("rb") as opened:
            key = hashlib.file_digest(opened, "sha256").hexdigest()
    return result.st_size, result.st_mtime_ns, key


def _state_or_none(file: Path) -> _State | None:
    try:
        return _state(file)
    except OSError:
        return None
