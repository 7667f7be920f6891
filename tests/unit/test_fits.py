"""Parts of a setting that exclude each other: those of the table, and no others."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from pydantic import ValidationError

from headway.study.exclusions import EXCLUSIONS
from headway.study.setting import Setting
from headway.study.units import Size

PARTS: dict[str, dict[str, Any]] = {
    "proxy": {"proxy": {"program": "nginx"}},
    "hops": {"hops": [{"name": "gw", "path": {"rtt": "20 ms"}}]},
    "hops.programs": {"hops": [{"name": "gw", "tcp_pep": {"program": "headway-tcp-pep"}}]},
    "hops.proxy": {"hops": [{"name": "gw", "proxy": {"program": "nginx"}}]},
    "flows": {"flows": {"a": {}, "b": {}}},
    "origins": {
        "origins": {"cdn": {"hosts": ["sander-19.test"]}},
        "workload": {"kind": "page", "site": "sander-19"},
        "client": {"program": "chromium"},
    },
    "dns": {"dns": {}},
    "dual_stack": {"dual_stack": {}},
    "discovery": {"discovery": {}},
    "workload.second_path": {
        "workload": {
            "kind": "migration",
            "size": "1 MB",
            "after": "100 kB",
            "second_path": {"rtt": "20 ms"},
        }
    },
    "control": {"control": {}},
    "fault": {"fault": "lose down 3"},
    "certificate_chain": {"certificate_chain": "10 kB"},
}
BASE = {"protocol": "h3", "path": {"rate": "10 Mbit/s", "rtt": "40 ms"}}
MEAN_NOTHING = {
    # Each with the workload that the other one is for.
    *(("dual_stack", "workload.second_path"), ("discovery", "workload.second_path")),
    *(("origins", "workload.second_path"), ("flows", "workload.second_path")),
    # Packets are counted, and pings would count.
    ("control", "fault"),
    # A reverse proxy answers for all hosts of a page.
    *(("proxy", "origins"), ("hops.programs", "origins"), ("hops.proxy", "origins")),
    # Competing flows share what only routes.
    *(("hops.programs", "flows"), ("hops.proxy", "flows")),
    # Both spell the same table.
    *(("hops", "hops.programs"), ("hops", "hops.proxy"), ("hops.programs", "hops.proxy")),
}
"""Pairs that are refused for what they are, beside the table."""


def refusal(*parts: str) -> str:
    raw = dict(BASE)
    for part in parts:
        raw |= PARTS[part]
    try:
        Setting.model_validate(raw)
    except ValidationError as error:
        return str(error.errors()[0]["msg"])
    return ""


def test_each_part_is_possible_alone() -> None:
    assert {part: refusal(part) for part in PARTS if refusal(part)} == {}


@pytest.mark.parametrize("pair", list(combinations(PARTS, 2)), ids=" ".join)
def test_pairs_are_refused_by_the_table_alone(pair: tuple[str, str]) -> None:
    by_table = any({row.key, row.beside} <= _named(pair) for row in EXCLUSIONS)
    if pair in MEAN_NOTHING:
        assert not by_table or refusal(*pair)
        return
    assert bool(refusal(*pair)) == by_table
    if by_table:
        assert "cannot be combined with" in refusal(*pair)


def _named(pair: tuple[str, str]) -> set[str]:
    """The parts of a pair; a program on a hop is a hop, and a proxy on one is a program."""
    more = {"hops.proxy": {"hops.programs", "hops"}, "hops.programs": {"hops"}}
    return set(pair).union(*(more.get(part, set()) for part in pair))


def test_of_the_usual_pairs_few_are_refused() -> None:
    usual = [part for part in PARTS if "." not in part or part == "workload.second_path"]
    refused = [pair for pair in combinations(usual, 2) if refusal(*pair)]
    pairs = len(usual) * (len(usual) - 1) / 2
    assert len(refused) < pairs / 5, (
        "at most a fifth of the usual pairs may be refused: let these stand together, or lift another row",
        refused,
    )


def test_rows_say_what_to_do() -> None:
    for row in EXCLUSIONS:
        assert {row.key, row.beside} <= PARTS.keys()
        assert row.because
        assert str(row).startswith("cannot be combined with ")


def test_a_part_without_content_counts() -> None:
    assert Setting.model_validate({**BASE, "certificate_chain": "10 kB"}).certificate_chain == Size(
        10_000
    )
    assert "cannot be combined" in refusal("flows", "dual_stack")
