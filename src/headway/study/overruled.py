"""Keys of a table that all of its parts state anew, both directions of a link or all flows: they are without effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headway.errors import WrongInputError
from headway.study.flow import CompetingFlow
from headway.study.path import Direction
from headway.study.source import Source

_WAYS = ("down", "up")
_SHARED = {**{name: name for name in Direction.model_fields}, "rtt": "delay"}
"""Keys that hold for both directions, each with the one that refines it."""
_FLOWS = ("flows", "pairwise")


def check_overruled(raw: Any, source: Source, key: str = "") -> None:
    """Refuse what stands in a table beside parts that all say it otherwise: ``down`` and ``up``, or flows.

    Tables that other tables refine are no matter of this: what holds for most contenders, one may overrule.

    Raises:
        WrongInputError: a table has such a key.
    """
    if isinstance(raw, list):
        for value in raw:
            check_overruled(value, source, key)
    elif isinstance(raw, dict):
        for name, where in _overruled(raw):
            raise WrongInputError(
                f"is without effect: {where} state theirs; leave it out, or one of theirs",
                where=source.where(f"{key}{name}"),
            )
        for name, value in raw.items():
            check_overruled(value, source, f"{key}{name}.")


def _overruled(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of a table that all parts of it state for themselves, each with what these parts are."""
    ways = [table.get(way) for way in _WAYS]
    shared = [set(way) for way in ways if isinstance(way, dict)]
    if len(shared) == len(_WAYS):
        for name in table:
            if _SHARED.get(name) in shared[0] & shared[1]:
                yield name, "down and up"
    for group in _FLOWS:
        flows = _tables(table.get(group))
        if len(flows) > 1 and not _added(table, group):
            own = [dict(_leaves(flow)) for flow in flows.values()]
            for leaf, value in _leaves(table):
                others = [keys.get(leaf, value) for keys in own]
                if leaf[0] in CompetingFlow.model_fields and value not in others:
                    yield ".".join(leaf), f"all {group}"


def _tables(raw: Any) -> dict[str, dict[str, Any]]:
    """The tables by name that a table has, if all of it is tables."""
    members = raw if isinstance(raw, dict) else {}
    return members if all(isinstance(value, dict) for value in members.values()) else {}


def _added(table: dict[str, Any], group: str) -> bool:
    """Whether a contender has a flow besides, which may inherit what the others state."""
    names = {
        name
        for contender in _tables(table.get("contenders")).values()
        for name in _tables(contender.get(group))
    }
    return not names <= _tables(table.get(group)).keys()


def _leaves(
    table: dict[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values that are no tables, each with its key and those of the tables that it is in."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value
