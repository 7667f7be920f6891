"""Which way imports go between the crates of `native/`, and between the modules of each."""

from __future__ import annotations

import graphlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
PREFIX = "headway-"
FLOORS = (
    ("wire", "schedule", "congestion", "trace", "reactor", "sockopt", "knobs", "messages", "abr"),
    ("quic",),
    ("http",),
    ("agent", "server", "client", "call", "dns", "perf", "processor", "quic-pep", "tcp-pep"),
)
"""From the ground up: a crate depends on crates of floors below its own."""
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}
FOR_TESTS = "testlink"
"""Depends on what its users' tests need; nothing but tests depends on it."""
CRATES = sorted(file.parent.name for file in NATIVE.glob("*/Cargo.toml"))

Module = tuple[str, ...]


@cache
def manifest(crate: str) -> dict[str, dict[str, object]]:
    with (NATIVE / crate / "Cargo.toml").open("rb") as file:
        return tomllib.load(file)


def needed(crate: str, table: str) -> set[str]:
    return {name.removeprefix(PREFIX) for name in manifest(crate).get(table, {})} & set(CRATES)


def test_every_crate_stands_on_a_floor() -> None:
    assert set(CRATES) == FLOOR.keys() | {FOR_TESTS}


@pytest.mark.parametrize("crate", sorted(FLOOR))
def test_crates_depend_on_those_below(crate: str) -> None:
    below = {name for name, floor in FLOOR.items() if floor < FLOOR[crate]}
    assert needed(crate, "dependencies") <= below
    # What a crate's tests need may use the crate, but no program.
    assert needed(crate, "dev-dependencies") <= below | {FOR_TESTS}


def test_what_tests_share_uses_no_program() -> None:
    assert needed(FOR_TESTS, "dependencies") <= {*FLOORS[0], *FLOORS[1]}


def modules(crate: str) -> dict[Module, Path]:
    """Files of a library or program by their modules; a library's root has no name."""
    source = NATIVE / crate / "src"
    root = "lib" if (source / "lib.rs").exists() else "main"
    found = {}
    for file in source.rglob("*.rs"):
        words = file.relative_to(source).with_suffix("").parts
        if words[0] != "bin" and words not in {("lib",), ("main",)}:
            found[words[:-1] if words[-1] == "mod" else words] = file
    return {(): source / f"{root}.rs"} | found


TEXTS = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|'
    r"b?'(?:\\[^']+|\\'|[^'\\])'",
    re.DOTALL,
)
"""Comments and literals, whose braces and paths are none."""
FOR_TEST = "#[cfg(test)]"


def code(text: str) -> str:
    """A file's code without comments, literals, and what is compiled for tests only."""
    text = TEXTS.sub("", text)
    while FOR_TEST in text:
        before, _, after = text.partition(FOR_TEST)
        text = before + after[item_length(after) :]
    return text


def item_length(text: str) -> int:
    """How much of a text its first item is: up to its semicolon, or the end of its braces."""
    depth = 0
    for at, sign in enumerate(text):
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(sign, 0)
        if depth == 0 and sign in ";}":
            return at + 1
    raise AssertionError(f"no end: {text[:80]}")


def use_trees(text: str) -> Iterator[list[str]]:
    """Paths from the crate's root or a module's parent, those in braces one by one."""
    for found in re.finditer(r"\b((?:crate|super)(?:::\w+)*)(::\{)?", text):
        base = found[1].split("::")
        if not found[2]:
            yield base
            continue
        depth, start = 1, found.end()
        for at in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0 or (depth == 1 and text[at] == ","):
                if words := re.findall(r"\w+", text[start:at]):
                    yield [*base, *words]
                start = at + 1
            if depth == 0:
                break


def used(module: Module, crate: str) -> set[Module]:
    """The modules whose names a module's own file uses; what the root passes on is not followed."""
    known, found = modules(crate), set()
    for first, *rest in use_trees(code(known[module].read_text(encoding="utf-8"))):
        here = () if first == "crate" else module[:-1]
        while rest and rest[0] == "super":
            here, rest = here[:-1], rest[1:]
        words = [*here, *rest]
        while words and tuple(words) not in known:
            words = words[:-1]
        if words and tuple(words) != module:
            found.add(tuple(words))
    return found


@pytest.mark.parametrize("crate", CRATES)
def test_no_modules_use_each_other_in_a_circle(crate: str) -> None:
    graph = {module: used(module, crate) for module in modules(crate) if module}
    # Raises CycleError, which names the circle.
    list(graphlib.TopologicalSorter(graph).static_order())


def test_what_stands_below_tests_is_seen() -> None:
    text = """
        #[cfg(test)]
        mod tests;
        use crate::below::{one, two}; // #[cfg(test)] in a comment
        #[cfg(test)]
        #[allow(dead_code)]
        fn helper(sign: char) -> [u8; 2] { if sign == '}' { panic!("}") } use_of(crate::tests_only) }
        const TEXT: &str = r#"use crate::in_a_text; {"#;
        fn last() { crate::last::call(); }
    """
    assert [words[:3] for words in use_trees(code(text))] == [
        ["crate", "below", "one"],
        ["crate", "below", "two"],
        ["crate", "last", "call"],
    ]


def test_the_page_of_crates_says_what_each_depends_on() -> None:
    page = (NATIVE / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| `([\w-]+)` \| (.+?) \| ?(.*?) ?\|$", page, re.MULTILINE)
    told = {name: (floor, set(re.findall(r"`([\w-]+)`", needs))) for floor, name, _, needs in rows}
    floors = {name: str(number + 1) for name, number in FLOOR.items()} | {FOR_TESTS: "tests"}
    assert told == {name: (floors[name], needed(name, "dependencies")) for name in CRATES}


def test_sources_have_no_let_chains() -> None:
    """They came with Rust 1.88; Debian 12's is 1.85, and newer ones do not say so."""
    chained = re.compile(r"&&\s*let\s")
    files = [file for crate in CRATES for file in sorted((NATIVE / crate).glob("**/*.rs"))]
    assert files
    assert [
        str(file) for file in files if chained.search(code(file.read_text(encoding="utf-8")))
    ] == []


def test_all_crates_have_the_workspaces_lints() -> None:
    """None has a copy of its own, which would not follow."""
    assert {crate: manifest(crate)["lints"] for crate in CRATES} == {
        crate: {"workspace": True} for crate in CRATES
    }


def test_unsafe_code_stays_where_it_is() -> None:
    files = (file for crate in CRATES for file in (NATIVE / crate).rglob("*.rs"))
    allowing = {
        str(file.relative_to(NATIVE))
        for file in files
        if "(unsafe_code" in file.read_text(encoding="utf-8")
    }
    assert allowing == {"agent/src/sys.rs", "sockopt/src/info.rs"}
