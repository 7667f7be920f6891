"""A failing setting, made small: what is left out or made simpler as long as it fails."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.swarm.drawing import Tables

_KEPT = frozenset(("name", "seed", "limits"))
"""Keys that are no part of the question."""


def shrunk(tables: Tables, fails: Callable[[Tables], bool], most_tries: int = 200) -> Tables:
    """The smallest tables that still fail.

    Args:
        tables: that fail.
        fails: whether tables fail in the same way.
        most_tries: how often that is asked.
    """
    tries, goes_on = 0, True
    while goes_on and tries < most_tries:
        goes_on = False
        for candidate in _smaller(tables):
            tries += 1
            if fails(candidate):
                tables, goes_on = candidate, True
                break
            if tries >= most_tries:
                break
    return tables


def _smaller(tables: Tables) -> Iterator[Tables]:
    """The same with a part less, large parts first."""
    for place in sorted(_places(tables), key=len):
        yield _without(tables, place)


def _places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where something can be left out."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list) and len(value) > 1:
        items = list(enumerate(value))
    for key, inner in items:
        if place or key not in _KEPT:
            yield (*place, key)
            yield from _places(inner, (*place, key))


def _without(tables: Tables, place: tuple[str | int, ...]) -> Tables:
    smaller = copy.deepcopy(tables)
    inner: Any = smaller
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return smaller
