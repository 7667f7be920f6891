"""Nothing that a study asks is without effect unsaid.

Each key of the documentation's studies, and each key of a path, gets another value. Then labs get other orders, or the
study is refused, or its user is told something else.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import pytest

from tests.unit.study_keys import (
    LABELS,
    Effect,
    Key,
    documented,
    effect,
    leaves,
    others,
    with_value,
)

PATHS: list[dict[str, Any]] = tomllib.loads(
    (File(__file__).parent / "paths" / "every.toml").read_text(encoding="utf-8")
)["path"]
MOST_RUNS = 3
"""Studies of more runs take long, and have no keys of their own."""
DRAWN = 2
"""So many keys of a study are changed by day."""
_SLOW = ("satellite", "orbit", "steps")
"""Keys below these are changed by night: each takes seconds."""


def is_label(key: Key) -> bool:
    return not LABELS.keys().isdisjoint(map(str, key))


def without_effect(raw: dict[str, Any], base: Effect, keys: list[tuple[Key, Any]]) -> Iterator[str]:
    """The changes of which nobody notices anything, although the study asks for something else."""
    for key, value in keys:
        for other in others(value):
            found = effect(with_value(raw, key, other))
            if found.refused or found.settings == base.settings:
                continue
            if (found.orders, found.notes) == (base.orders, base.notes):
                yield f"{'.'.join(map(str, key))} = {other}"


def tried(raw: dict[str, Any], draw: random.Random | None) -> list[tuple[Key, Any]]:
    keys = [(key, value) for key, value in leaves(raw) if not is_label(key)]
    if draw is None:
        return keys
    quick = [one for one in keys if not any(name in one[0] for name in _SLOW)]
    return draw.sample(quick, min(DRAWN, len(quick)))


STUDIES = list(documented())
CASES = [
    *(pytest.param(raw, random.Random(name), id=name) for name, raw in STUDIES),
    *(
        pytest.param(raw, None, id=f"{name} all", marks=pytest.mark.nightly)
        for name, raw in STUDIES
    ),
]


@pytest.mark.parametrize(("raw", "draw"), CASES)
def test_keys_of_a_documented_study_have_an_effect(
    raw: dict[str, Any], draw: random.Random | None
) -> None:
    base = effect(raw)
    if base.refused or len(base.orders) > MOST_RUNS:
        pytest.skip(base.refused or "many runs")
    assert list(without_effect(raw, base, tried(raw, draw))) == []


def over(path: dict[str, Any]) -> dict[str, Any]:
    """A study over a path, by a client of QUIC, of which policies for UDP hold."""
    programs = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
    return {
        "name": "keys",
        "protocol": "h3",
        "path": path,
        "workload": {"size": "1 MB"},
        **programs,
    }


WITHOUT_COURSES = [
    one for one in PATHS if isinstance(one.get("rate", ""), str) and "satellite" not in one
]
"""Paths whose effects are told in a moment."""


@pytest.mark.parametrize("path", WITHOUT_COURSES, ids=lambda one: " ".join(one)[:40])
def test_keys_of_a_path_have_an_effect(path: dict[str, Any]) -> None:
    raw = over(path)
    base = effect(raw)
    assert not base.refused
    keys = [(key, value) for key, value in leaves(raw) if key[0] == "path"]
    assert list(without_effect(raw, base, keys)) == []


@pytest.mark.parametrize(
    "raw",
    [
        {"path": {"rtt": "10 ms", "queue": "30 kB"}},
        {
            "path": {
                "rate": "9 Mbit/s",
                "rtt": "10 ms",
                "queue": {"size": "1 BDP", "discipline": "dualpi2"},
            }
        },
    ],
    ids=["a queue without a rate", "dualpi2 without a sender that marks ECT(1)"],
)
def test_what_has_no_effect_is_noted(raw: dict[str, Any]) -> None:
    path = {key: value for key, value in raw["path"].items() if key != "queue"}
    with_it, without = effect(over(raw["path"])), effect(over(path))
    assert not with_it.refused and not without.refused
    assert with_it.notes != without.notes
