"""Every part of a setting leaves a trace, whatever other parts stand beside it: none is lost without a word.

The swarm's settings are drawn, and their keys get other values, one at a time; a part without keys is left out. Then labs get
other orders, or the study is refused, or its user is told that the key is without effect.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.swarm.drawing import drawn
from tests.unit.study_keys import Key, effect, without
from tests.unit.test_all_keys import asked, noticed, vain

BY_DAY = range(1, 41)
BY_NIGHT = range(1, 1001)
DRAWN = 2
"""So many keys of a setting are changed by day."""
MOST_BY_DAY = 12
"""So many settings of several parts."""
_KINDS = ("kind", "name")
"""Keys that only say which part it is."""
_USUAL = {"name", "seed", "limits", "protocol", "client", "server", "path", "workload"}
"""Tables of every setting."""


def empty_parts(raw: Any, key: Key = ()) -> Iterator[Key]:
    """The tables of a study that state no key."""
    if raw == {}:
        yield key
    inner = raw.items() if isinstance(raw, dict) else enumerate(raw)
    for name, value in inner:
        if isinstance(value, dict | list):
            yield from empty_parts(value, (*key, name))


def parts(raw: dict[str, Any]) -> frozenset[str]:
    """What is stated beside that which every setting has; of a path, what disturbs it."""
    path = raw.get("path", {})
    disturbing = {f"path.{key}" for key in path if key not in ("rate", "rtt", "down", "up")}
    return frozenset({*raw.keys() - _USUAL, *disturbing})


def is_refused(raw: dict[str, Any]) -> bool:
    return bool(effect(raw).refused)


def stated_keys(raw: dict[str, Any]) -> list[tuple[Key, Any]]:
    values = ((key, value) for key, value in asked(raw) if key[-1] not in _KINDS)
    return [(key, value) for key, value in values if key[0] != "limits"]


def lost(raw: dict[str, Any], keys: list[tuple[Key, Any]]) -> list[str]:
    """The keys and parts of which nobody notices that they are others, or are not there."""
    empty = [(key, {}) for key in empty_parts(raw)]
    left_out = noticed(raw, empty) if empty else ()
    gone = [".".join(map(str, key)) for key, _, is_noticed in left_out if not is_noticed]
    return [*gone, *(vain(raw, keys) if keys else [])]


def several(seeds: range) -> list[int]:
    """The seeds of settings in which parts meet."""
    return [seed for seed in seeds if len(parts(drawn(seed))) >= 2]


def by_day() -> list[int]:
    """Those of a few; ways that follow contacts take seconds to plan, and are for the night."""
    quick = [seed for seed in several(BY_DAY) if "routing" not in drawn(seed)]
    return quick[:MOST_BY_DAY]


@pytest.mark.parametrize("seed", by_day())
def test_some_keys_of_parts_together_leave_a_trace(seed: int) -> None:
    raw = drawn(seed)
    if not is_refused(raw):
        keys = stated_keys(raw)
        assert lost(raw, random.Random(seed).sample(keys, min(DRAWN, len(keys)))) == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", several(BY_NIGHT))
def test_all_keys_of_parts_together_leave_a_trace(seed: int) -> None:
    raw = drawn(seed)
    if not is_refused(raw):
        assert lost(raw, stated_keys(raw)) == []


@pytest.mark.parametrize("seed", by_day())
def test_without_a_part_a_setting_is_laid_or_refused(seed: int) -> None:
    """Nothing is raised but what is wrong with it."""
    raw = drawn(seed)
    for part in raw.keys() - {"name"}:
        without_it = effect(without(raw, (part,)))
        assert without_it.orders or without_it.refused
