"""Entries of the cache that programs from outside need: made once, and the oldest forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX, EntryDirectory, cache_directory, remove_tree


def kept(store: str, key: str, fill: Callable[[Path], None], at_most: int) -> Path:
    """An entry, filled first if it is new.

    Args:
        store: directory of the cache.
        key: equal for equal content.
        fill: writes the content into the directory that it is given.
        at_most: so many entries stay, those that were used last: labs may be running from them.

    Raises:
        HeadwayError: no space is left, or what ``fill`` raises.
    """
    entries = EntryDirectory(cache_directory() / store)
    entry = _found(entries, key)
    if entry is None:
        with entries.locked():
            entry = _found(entries, key)
            if entry is None:
                entry = entries.make(key, fill)
                _forget_old(entries, at_most)
    # One that another user made, or of a cache that is read-only, is as good; its owner knows when it is old.
    with suppress(OSError):
        os.utime(entry)
    return entry


def _found(entries: EntryDirectory, key: str) -> Path | None:
    """As it was made here or received from another machine; None if there is none."""
    paths = (entries.entry(key), *sorted(entries.directory.glob(f"{key}-*")))
    whole = (path for path in paths if path.is_dir() and not path.name.endswith(PARTIAL_SUFFIX))
    return next(whole, None)


def _forget_old(entries: EntryDirectory, at_most: int) -> None:
    there = [entry for entry in entries.directory.iterdir() if entry.is_dir()]
    newest = sorted(there, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for old in newest[at_most:]:
        remove_tree(old)
