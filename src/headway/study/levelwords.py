"""Levels of axes over paths in words, by the same functions that say what a path is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from headway.study.courses import part_words
from headway.study.path import Direction, Link, Path
from headway.study.pathwords import (
    NONE,
    NUMBERED,
    direction_words,
    path_aspects,
    path_title,
)

_OF_KEY: Mapping[str, str] = {
    "rate": "rate",
    "delay": "one-way delay",
    "jitter": "jitter",
    "loss": "loss",
    "queue": "queue",
    "reordering": "reordering",
    "drop_packets": "named drops",
    "blackouts": "blackouts",
    "contacts": "contacts",
    "duplication": "duplication",
    "corruption": "corruption",
    "mtu": "MTU",
    "policer": "policer",
    "udp": "UDP",
    "tunnel": "tunnel",
    "access": "access",
    "nat": "NAT",
    "satellite": "satellite",
}
"""The aspect that a key of ``[path]`` states."""
_WAYS = ("down", "up")


def aspect_of(key: str) -> str | None:
    """The aspect that a key of a study's path states, such as ``path.down.blackouts``; None if none by itself."""
    first, *parts = key.split(".")
    way = parts.pop(0) if parts and parts[0] in _WAYS else None
    if first != "path" or len(parts) != 1 or parts[0] not in _OF_KEY:
        return None
    name = _OF_KEY[parts[0]]
    if way is None or (name in ("rate", *NUMBERED) and way == "down"):
        return name
    return f"{name} {way}"


def level_title(key: str, value: Any) -> str | None:
    """A level of an axis over paths, or over a part of a path, in words; None if it is of something else.

    Args:
        key: of the axis, such as ``path.blackouts``.
        value: as the study has it.
    """
    _, text, rest = f".{key}".rpartition(".path")
    parts = [part for part in rest.strip(".").split(".") if part not in ("", *_WAYS)]
    if not text or len(parts) > 1 or (not parts and "profile" in value):
        return None
    table = {parts[0]: value} if parts else value
    try:
        if parts and parts[0] in Direction.model_fields:
            return _of_field(parts[0], value)
        path = Path.model_validate(table)
    except ValidationError:
        return None
    if parts and parts[0] in Link.model_fields:
        name = _OF_KEY.get(parts[0])
        return next(
            (aspect.words for aspect in path_aspects(path) if aspect.name == name),
            NONE,
        )
    return path_title(path)


def _of_field(name: str, value: Any) -> str | None:
    """A property of a direction by itself; changes in the order of their times."""
    if name not in (*_OF_KEY, "changes"):
        return None
    if name == "changes":
        changes = Direction.model_validate({"rate": "1 Mbit/s", name: value}).changes
        return "; ".join(", ".join(part_words(change)) for change in changes) or NONE
    usual = {"rate": "1 Mbit/s", "delay": "1000 s"} if name not in ("rate", "delay") else {}
    way = Direction.model_validate({**usual, name: value})
    return direction_words(_OF_KEY[name], way) or NONE
