"""Keys of a link's table that both of its directions state anew: they are without effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headway.errors import WrongInputError
from headway.study.path import Direction
from headway.study.source import Source

_WAYS = ("down", "up")
_SHARED = {**{name: name for name in Direction.model_fields}, "rtt": "delay"}
"""Keys that hold for both directions, each with the one that refines it."""


def check_overruled(raw: Any, source: Source, key: str = "") -> None:
    """Refuse what stands in a table beside ``down`` and ``up`` that both say it otherwise.

    Tables that other tables refine are no matter of this: what holds for most contenders, one may overrule.

    Raises:
        WrongInputError: a table has such a key.
    """
    if isinstance(raw, list):
        for value in raw:
            check_overruled(value, source, key)
    elif isinstance(raw, dict):
        for name in _overruled(raw):
            raise WrongInputError(
                "is without effect: down and up state theirs; leave it out, or one of theirs",
                where=source.where(f"{key}{name}"),
            )
        for name, value in raw.items():
            check_overruled(value, source, f"{key}{name}.")


def _overruled(table: dict[str, Any]) -> Iterator[str]:
    ways = [table.get(way) for way in _WAYS]
    own = [way.keys() for way in ways if isinstance(way, dict)]
    if len(own) == len(_WAYS):
        yield from (name for name in table if _SHARED.get(name) in own[0] & own[1])
