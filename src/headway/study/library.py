"""Studies that come with Headway: their names and texts, read and not yet validated."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from headway.modules import instrument_directories

_DIRECTORY = Path(__file__).with_name("builtin")
_SAID_ELSEWHERE = ("claims", "published")


@cache
def builtin_files() -> dict[str, Path]:
    """The files of the studies that come with Headway, the core's and those of instruments, by name, in their order."""
    places = (_DIRECTORY, *instrument_directories("studies"))
    files = {file.stem: file for place in places for file in place.glob("*.toml")}
    return dict(sorted(files.items()))


def builtin_names() -> list[str]:
    """Names of the studies that come with Headway."""
    return list(builtin_files())


def builtin_text(name: str) -> str:
    """The text of a study that comes with Headway."""
    return builtin_files()[name].read_text(encoding="utf-8")


def builtin_question(name: str) -> str:
    """The question that a study asks."""
    return str(_tables(name).get("question", ""))


def reproduces(name: str) -> bool:
    """Whether a study has something that was said elsewhere, beside which its own results are put."""
    tables = _tables(name)
    experiments = tables.get("experiments", {}).values()
    return any(key in table for table in (tables, *experiments) for key in _SAID_ELSEWHERE)


@lru_cache
def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(builtin_text(name))
