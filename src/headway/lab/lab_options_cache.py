"""Labs that commands were given before: the same options make the same lab.

To make one, a command loads the models of the study format, reads its path, and looks whether the image is made
from today's files. That takes several times as long as a small lab. So a lab is kept in the cache, under a key of
everything that it was made from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headway.cache import PARTIAL_SUFFIX, cache_directory, digest, written_atomically
from headway.contract.text import dump, load
from headway.errors import HeadwayError
from headway.lab.console import ConsoleLab
from headway.sealed import damages
from headway.version import VERSION
from headway.words import names_in

_KEPT = 100
_PACKAGE = Path(__file__).parents[1]
_WORKSPACE = _PACKAGE.parents[1] / "native"
"""The sources of Headway's own programs, where Headway is used from its source tree."""
_LEFT_OUT = ("__pycache__", "target")


@dataclass(frozen=True)
class _Kept:
    """A lab, and words of commands for which it lacks a layer."""

    lab: ConsoleLab
    layer_words: tuple[str, ...]


def remember(options: Mapping[str, str], lab: ConsoleLab, layer_words: Iterable[str]) -> None:
    """Keep a lab without layers, where there is room: the next command makes it anew otherwise.

    Args:
        options: of the command; with these the next command is given the same lab.
        lab: the lab.
        layer_words: a command with one of these needs another one, with a layer.
    """
    with suppress(OSError, HeadwayError):
        _remember(_file(options), _Kept(lab, tuple(sorted(layer_words))))


def _remember(file: Path, kept: _Kept) -> None:
    with written_atomically(file) as descriptor:
        if descriptor is not None:
            os.write(descriptor, dump(kept).encode())
    newest = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for old in newest[:-_KEPT]:
        old.unlink(missing_ok=True)


def remembered(options: Mapping[str, str], command: Iterable[str]) -> ConsoleLab | None:
    """The lab for a command with these options; None if none is known, or it has to be made anew."""
    try:
        text = _file(options).read_text(encoding="utf-8")
        kept = load(_Kept, text)
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    if not names_in(command).isdisjoint(kept.layer_words):
        return None
    return kept.lab if all(map(os.path.exists, kept.lab.places)) and _is_whole(kept.lab) else None


def _is_whole(lab: ConsoleLab) -> bool:
    """Whether kernel, root tree and own programs look as they did when they were made."""
    parts = (lab.kernel, lab.root, lab.native)
    return not any(damages(Path(part).parent, whole=False) for part in parts)


def _file(options: Mapping[str, str]) -> Path:
    """Where a lab is kept, by its options, and by all else that decides what they make."""
    cache = cache_directory()
    texts = {name: value for name, value in os.environ.items() if name.startswith("HEADWAY_")}
    files = [*_walk(str(_PACKAGE)), *_walk(str(_WORKSPACE))]
    # When an entry of the cache was renamed to its name.
    made = [
        (str(entry), entry.stat().st_ctime_ns)
        for store in ("image", "extras")
        for entry in (cache / store).glob("*-*")
        if entry.suffix != PARTIAL_SUFFIX
    ]
    parts = (sorted(options.items()), sorted(texts.items()), sorted(files), sorted(made))
    return cache / "console" / f"{digest(VERSION, sys.version, *map(repr, parts))}.json"


def _walk(directory: str) -> Iterator[tuple[str, int, int]]:
    """All files below a directory, their sizes, and when they were last changed, which nobody can set."""
    try:
        entries = os.scandir(directory)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path)
            else:
                state = entry.stat()
                yield entry.path, state.st_size, state.st_ctime_ns
