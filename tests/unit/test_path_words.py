"""What a path is said to be: all of it, in the same words everywhere."""

from __future__ import annotations

import tomllib
from pathlib import Path as File
from typing import Any

import pytest
from pydantic import ValidationError

from headway.study.levelwords import level_title
from headway.study.path import Path
from headway.study.pathwords import path_aspects, path_title
from tests.unit.study_keys import Key, all_keys, leaves, others, stated, with_value

PATHS: list[dict[str, Any]] = tomllib.loads(
    (File(__file__).parent / "paths" / "every.toml").read_text(encoding="utf-8")
)["path"]
WORDS = {
    "meanwhile": "lost",
    "jitter_distribution": "uniform",
    "discipline": "red",
    "kind": "wireguard",
    "over": "ipv4",
    "what": "port",
    "udp": "rejected",
    "tunnel": "ipip",
    "trace": "other.trace",
    "overhead": "dvb",
    "modcod": "QPSK 1/2",
    "standard": "dvb-s2",
    **{"not_ect": "ce", "ect0": "ce", "ect1": "ect0", "ce": "ect0"},
    "lost": "packets",
}
"""Other words of keys that have words."""
NOT_SAID = {("Path", "profile"), ("TraceRate", "unit"), ("TraceRate", "known")}
"""A profile stands for links; the path is said by its name, and by the links. A trace is said by what it holds in milliseconds."""
MOMENTS = "opportunities_ms"
"""A trace is said by its name, length and mean, not by each of its moments."""
ONLY_SO = ("steps.0.at", "delay.0.at", ".standard")
"""Keys that have one possible value here: what changes over time begins at the start, and `burst` is of one standard."""


def key_text(key: Key) -> str:
    return ".".join(map(str, key))


def other_values(key: Key, value: Any) -> list[Any]:
    name = next(str(part) for part in reversed(key) if isinstance(part, str))
    if name == "burst" and value in (536, 1616):
        return [536 + 1616 - value]
    return list(others(value, name)) or [WORDS[name]]


CHANGES = [
    pytest.param(place, key, value, id=f"{place} {key_text(key)}")
    for place, raw in enumerate(PATHS)
    for key, value in leaves(raw)
    if MOMENTS not in key
]


def test_every_key_of_a_path_occurs() -> None:
    there = {one for raw in PATHS for one in stated(Path.model_validate(raw))}
    assert set(all_keys(Path)) - there == NOT_SAID


@pytest.mark.parametrize(("place", "key", "value"), CHANGES)
def test_whatever_changes_of_a_path_changes_its_words(place: int, key: Key, value: Any) -> None:
    raw = PATHS[place]
    tried = 0
    for other in other_values(key, value):
        try:
            changed = Path.model_validate(with_value(raw, key, other))
        except ValidationError:
            continue
        tried += 1
        if changed != Path.model_validate(raw):
            assert path_title(changed) != path_title(Path.model_validate(raw))
    # No other discipline has a step, and few have an interval.
    assert tried or key_text(key).endswith(ONLY_SO) or value == "dualpi2"


def words(**raw: Any) -> str:
    return path_title(Path.model_validate(raw))


def test_rates_and_delays_that_change_are_said_over_time() -> None:
    steps = [("0 s", 12), ("15 s", 8), ("30 s", 16), ("45 s", 10)]
    rate = {"steps": [{"at": at, "rate": f"{mbit} Mbit/s"} for at, mbit in steps]}
    changes = [{"at": "15 s", "delay": "28 ms"}, {"at": "30 s", "delay": "17 ms"}]
    told = words(rtt="40 ms", down={"rate": rate}, up={"rate": "4 Mbit/s"}, changes=changes)
    assert "12, 8, 16 and 10 Mbit/s from 0, 15, 30 and 45 s" in told
    assert "4 Mbit/s up" in told
    assert "one-way delay 20, 28 and 17 ms from 0, 15 and 30 s" in told


def test_each_direction_that_differs_is_said() -> None:
    assert words(rate="9 Mbit/s", rtt="4 ms", up={"blackouts": [["1 s", "2 s"]]}).endswith(
        "blackouts up 1 s to 2 s"
    )
    assert "blackouts" not in words(rate="9 Mbit/s", rtt="4 ms")


def test_a_trace_is_said_by_its_name_mean_rate_and_length() -> None:
    times = list(range(1, 2001))
    told = words(rate={"trace": "bus.trace", "opportunities_ms": times}, rtt="4 ms")
    assert told.startswith("trace bus.trace, 12 Mbit/s in the mean over 2 s")


def test_a_plain_path_is_said_by_numbers() -> None:
    plain = Path.model_validate({"rate": "9 Mbit/s", "rtt": "4 ms", "loss": "1 %"})
    assert all(aspect.is_number for aspect in path_aspects(plain))
    assert path_title(plain) == "9 Mbit/s, RTT 4 ms, loss 1 %"


@pytest.mark.parametrize(
    ("key", "value", "title"),
    [
        ("path.blackouts", [], "none"),
        (
            "path.blackouts",
            [["15 s", "15.2 s"], ["30 s", "30.2 s"]],
            "15 s to 15.2 s and 30 s to 30.2 s",
        ),
        ("path.changes", [], "none"),
        ("hops.terminal.path.loss", {"mean": "1 %", "burst": 3}, "1 % in bursts of 3"),
        ("path", {"rate": "9 Mbit/s", "rtt": "4 ms"}, "9 Mbit/s, RTT 4 ms"),
        ("workload", {"kind": "download"}, None),
    ],
)
def test_levels_of_axes_are_said_as_paths_are(key: str, value: Any, title: str | None) -> None:
    assert level_title(key, value) == title
