"""Sources of a study, kept beside its results: its file, that of its programs, and the files that these name."""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from headway.errors import WrongInputError
from headway.foreign.documents import toml_tables
from headway.foreign.names import below
from headway.study.experiment import Study
from headway.study.mpd import film_at
from headway.study.outsidefile import PROGRAMS_FILE

SOURCES = "study"
"""The directory of results that has them."""
LEFT_OUT = "left-out.txt"
_MOST_BYTES, _MOST_FILES = 64 << 20, 10_000
"""What is larger, such as an image of a container, is named only."""
_NO_NAMES = frozenset({"name", "question", "why", "meaning", "version"})
"""Keys whose texts name no files."""
_PROGRAMS = "--programs"


def keep_sources(study: Study, command: str, directory: Path) -> None:
    """Keep a study's files in a results directory, in place of those that are there.

    Args:
        study: the study; of one that no file has nothing is kept.
        command: that it was carried out with.
        directory: of the results.
    """
    source = study.source
    if source is None or not source.text:
        return
    place = directory / SOURCES
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / Path(source.name).name).write_text(source.text, encoding="utf-8")
    tables = toml_tables(source.text.removeprefix("\ufeff"))
    named = [(source.directory, text) for text in _texts(tables)]
    programs = _programs_file(command) or source.directory / str(
        tables.get("programs", PROGRAMS_FILE)
    )
    if programs.is_file():
        text = programs.read_text(encoding="utf-8-sig")
        (place / programs.name).write_text(text, encoding="utf-8")
        named += [(programs.parent, text) for text in _texts(toml_tables(text))]
    left_out = [name for base, name in dict.fromkeys(named) if not _kept(base, name, place)]
    if left_out:
        words = "".join(f"{name}\n" for name in left_out)
        (place / LEFT_OUT).write_text(words, encoding="utf-8")


def again(command: str, directory: Path) -> str:
    """The command that carries out a study again from its files in a results directory, which is the current one.

    Args:
        command: that it was carried out with, without what does not matter to results.
        directory: of the results.
    """
    words = shlex.split(command)
    for at, word in enumerate(words):
        name = word.rpartition("=")[2] if word.startswith(_PROGRAMS) else word
        kept = Path(SOURCES, Path(name).name)
        if name.endswith(".toml") and (directory / kept).is_file():
            words[at] = word.removesuffix(name) + str(kept)
    return shlex.join(words)


def _programs_file(command: str) -> Path | None:
    """The file of programs that a command names."""
    if not command.startswith("headway "):
        return None
    words = shlex.split(command)
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == _PROGRAMS:
            return Path(after)
        if word.startswith(f"{_PROGRAMS}="):
            return Path(word.partition("=")[2])
    return None


def _texts(value: Any) -> Iterator[str]:
    """All texts of a document that may name files."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element)
    elif isinstance(value, dict):
        for key, element in value.items():
            if key not in _NO_NAMES:
                yield from _texts(element)


def _kept(base: Path, name: str, place: Path) -> bool:
    """Keep what a text names, if it names a file or a directory; whether nothing had to be left out."""
    try:
        if not PurePath(name).name or not (base / name).exists():
            return True
    except (OSError, ValueError):
        return True  # it is no name of a file
    if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
        return False
    files = list(islice(_files(base, name), _MOST_FILES + 1))
    if len(files) > _MOST_FILES or sum(path.stat().st_size for path in files) > _MOST_BYTES:
        return False
    for file in files:
        target = place / below(str(file.relative_to(base)))
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
    return True


def _files(base: Path, name: str) -> Iterator[Path]:
    """The files that a name stands for: of a directory all in it, of an MPD its segments, too."""
    path = base / name
    if path.is_dir():
        yield from (file for file in path.rglob("*") if file.is_file())
    elif path.is_file():
        yield path
        if path.suffix == ".mpd":
            with contextlib.suppress(WrongInputError):
                yield from (path.parent / text for text, _ in film_at(str(path)).files)
