"""Crates of others have licences that `native/deny.toml` allows, whether cargo-deny is installed or not."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import Any

import pytest

from headway.image.image import Layout
from headway.image.options import ImageOptions
from headway.image.process import user_environment
from tests.imports import REPOSITORY

POLICY = tomllib.loads((REPOSITORY / "native" / "deny.toml").read_text(encoding="utf-8"))
ALLOWED = frozenset(POLICY["licenses"]["allow"])


def is_allowed(licence: str, allowed: frozenset[str] = ALLOWED) -> bool:
    """Whether an SPDX expression can be met by allowed licences; a slash is an older OR."""
    words = re.findall(r"[()]|[^\s()/]+", licence.replace("/", " OR "))

    def either() -> bool:
        met = both()
        while words and words[0] == "OR":
            words.pop(0)
            met = both() or met
        return met

    def both() -> bool:
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        word = words.pop(0)
        if word == "(":
            met = either()
            assert words.pop(0) == ")"
            return met
        if words and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in allowed

    met = either()
    assert not words, licence
    return met


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("MIT/GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND ISC", True),
        ("MIT OR GPL-3.0-only AND GPL-2.0-only", True),
        ("(MIT OR ISC) AND GPL-3.0-only", False),
        ("ISC WITH LLVM-exception", False),
        ("ISC WITH LLVM-exception OR MIT", True),
    ],
)
def test_expressions_of_licences_are_read(licence: str, allowed: bool) -> None:
    assert is_allowed(licence, frozenset({"MIT", "ISC"})) is allowed


@pytest.fixture(scope="session")
def crates() -> list[dict[str, Any]]:
    """All crates that programs and tests are compiled from."""
    toolchain = Layout.of_package(ImageOptions.from_environment()).brought()
    if toolchain is None:
        pytest.skip("the toolchain is not here; `make lint` brings it")
    target = POLICY["graph"]["targets"][0]
    asked = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", target]
    told = subprocess.run(
        asked,
        cwd=REPOSITORY / "native",
        env=toolchain.environment(user_environment()),
        stdout=subprocess.PIPE,
        check=True,
    )
    data = json.loads(told.stdout)
    resolved = {node["id"] for node in data["resolve"]["nodes"]}
    return [one for one in data["packages"] if one["id"] in resolved]


def test_every_crate_has_a_licence_that_is_allowed(crates: list[dict[str, Any]]) -> None:
    others = [one for one in crates if one["source"]]
    assert len(others) > 50
    assert not {
        f"{one['name']} {one['version']}: {one['license']}"
        for one in others
        if not is_allowed(one["license"] or "none")
    }


def test_no_licence_is_allowed_for_nothing(crates: list[dict[str, Any]]) -> None:
    others = {one["license"] for one in crates if one["source"]}
    for name in ALLOWED:
        assert not all(is_allowed(licence, ALLOWED - {name}) for licence in others), name


def test_crates_come_from_the_registry_alone(crates: list[dict[str, Any]]) -> None:
    assert POLICY["sources"] == {"unknown-registry": "deny", "unknown-git": "deny"}
    places = {one["source"] for one in crates if one["source"]}
    assert {place.partition("+")[0] for place in places} <= {"registry", "sparse"}
