"""Studies that come with Headway: their names and texts, read and not yet validated."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).with_name("builtin")
_SAID_ELSEWHERE = ("claims", "published")


def builtin_names() -> list[str]:
    """Names of the studies that come with Headway."""
    return sorted(file.stem for file in DIRECTORY.glob("*.toml"))


def builtin_text(name: str) -> str:
    """The text of a study that comes with Headway."""
    return (DIRECTORY / f"{name}.toml").read_text(encoding="utf-8")


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
