"""Lines of keys: of every key that tomllib finds, and of nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headway.study.library import builtin_files
from headway.study.positions import Key, positions
from headway.study.source import Source
from tests.doc_examples import ROOT, as_toml, studies

TRICKY = r'''
name = "a" # path.rtt = 1
"quoted.key" = 'x = 1' # [path]
text = """
path.rtt = 3
[path]
a \""" quote = """""
raw = """a"""
literal = \'\'\'
[[hops]]
name = "no hop"
\'\'\'
"escaped \" key" = 1
list = [ # one = 1
  "a = [",
  { x = 1, "y.z" = { inner = [1, 2] }, path . rtt = 2 }, # }
  [[], [{}]],
]
when = 1979-05-27T07:32:00Z
[ a . "b.c" ]
d.e = true
d.f = 0x1F
[[tables]]
one = 1
[[tables]]
two = { a = "]", b = "}" }
[tables.below]
three = 3
[[tables.inner]]
[[tables.inner]]
four = 4
'''.replace("\\'", "'")


def keys(value: Any, above: Key = ()) -> Iterator[Key]:
    inner: Iterator[tuple[str, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = ((str(number), one) for number, one in enumerate(value))
    for name, one in inner:
        yield (*above, name)
        yield from keys(one, (*above, name))


TEXTS = {
    "tricky": TRICKY,
    "with returns": TRICKY.replace("\n", "\r\n"),
    **{file.stem: file.read_text() for file in builtin_files().values()},
    **{name: as_toml(raw) for name, raw in studies().items()},
    "packages": (ROOT / "pyproject.toml").read_text(),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_key_is_found_in_a_line_that_has_it(text: str) -> None:
    lines = text.split("\n")
    found = positions(text)
    in_file = {
        tuple(part.replace('\\"', '"') for part in path): line for path, line, _ in found[::-1]
    }
    assert in_file.keys() == set(keys(tomllib.loads(text)))
    for path, line in in_file.items():
        if not path[-1].isdecimal():
            assert path[-1].replace('"', '\\"') in lines[line - 1], path


def test_lines_are_those_of_the_keys() -> None:
    lines = {path: line for path, line, _ in positions(TRICKY)[::-1]}
    place = TRICKY.split("\n").index
    assert (
        lines["list", "1", "y.z", "inner"]
        == place('  { x = 1, "y.z" = { inner = [1, 2] }, path . rtt = 2 }, # }') + 1
    )
    assert lines["a", "b.c", "d", "f"] == place("d.f = 0x1F") + 1
    assert lines["tables", "0", "one"] == place("one = 1") + 1
    assert lines["tables", "1", "inner", "1", "four"] == place("four = 4") + 1


@pytest.mark.parametrize(
    "text", ["a", "a =", "a = [", "a = {", "[a", "[[a]", 'a = "', "= 1", "a = [1 2]", "]", "\\"]
)
def test_what_is_no_toml_ends(text: str) -> None:
    assert len(positions(text)) < 5


def test_a_hop_is_found_by_its_name() -> None:
    text = '[[hops]]\nname = "a"\n[[hops]]\nname = "b"\n[hops.path]\nrtt = 1\n'
    assert Source("s.toml", text, Path()).where("hops.b.path.rtt") == "s.toml:6: hops.b.path.rtt"
    inline = 'hops = [\n{ name = "a" },\n{ name = "b", path.rtt = 1 },\n]\n'
    assert Source("s.toml", inline, Path()).where("hops.b.path.rtt").startswith("s.toml:3: ")
