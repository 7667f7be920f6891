"""Which way imports go: packages stand on floors, and no module is part of a circle."""

from __future__ import annotations

import ast
import graphlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import imports
from tests.imports import modules, tree

FLOORS = (
    ("version", "errors", "modules", "overriding", "statistics", "tables", "words"),
    ("durable", "locks"),
    ("cache",),
    ("foreign",),
    ("sealed",),
    ("columns",),
    ("containers",),
    ("traces",),
    ("study",),
    ("contract",),
    ("guest",),
    ("aioquic",),
    ("sites",),
    ("pages",),
    ("image",),
    ("videos",),
    ("programs",),
    ("planning",),
    ("lab",),
    ("selftest",),
    ("diagnosis",),
    ("records",),
    ("analysis",),
    ("campaign",),
    ("nearby",),
    ("report",),
    ("look",),
    ("terminal",),
    ("api",),
    ("cli",),
    ("instruments",),
    ("__main__",),
)
"""From the ground up: a package imports what stands on its own floor or below."""
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}


def imported(name: str, *, for_types: bool = False) -> Iterator[str]:
    """Other modules that a module needs when it runs, or for its types, too."""
    for one in imports.imported(modules()[name], modules(), for_types=for_types):
        if one not in (name, "headway"):
            yield one


def package(name: str) -> str:
    return name.split(".")[1]


def test_every_package_stands_on_a_floor() -> None:
    assert {package(name) for name in modules() if name != "headway"} == FLOOR.keys()


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_imports_go_down(name: str) -> None:
    upward = {
        (one, other)
        for one in modules()
        if one != "headway" and package(one) == name
        for other in imported(one, for_types=True)
        if FLOOR[package(other)] > FLOOR[name]
        or (FLOOR[package(other)] == FLOOR[name] and package(other) != name)
    }
    assert not upward


def test_no_modules_import_each_other_in_a_circle() -> None:
    plain = {name: file for name, file in modules().items() if file.name != "__init__.py"}
    graph = {
        name: {other for other in imported(name, for_types=True) if other in plain}
        for name in plain
    }
    # Raises CycleError, which names the circle.
    list(graphlib.TopologicalSorter(graph).static_order())


def instrument(name: str) -> str:
    """The instrument that a module is of; empty of the core, and of the package of all instruments."""
    parts = name.split(".")
    return parts[2] if parts[1:2] == ["instruments"] and len(parts) > 2 else ""


def test_instruments_do_not_import_each_other() -> None:
    across = {
        (name, other)
        for name in modules()
        if instrument(name)
        for other in imported(name)
        if instrument(other) not in ("", instrument(name))
    }
    assert not across


def test_the_core_names_no_instrument() -> None:
    """Neither does it import one by a text that is its name."""
    named = {
        (name, text)
        for name, file in modules().items()
        if not instrument(name)
        for text in imports.facts(file).texts
        if text.startswith("headway.instruments.")
    }
    assert not named


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """Headway's package without its instruments, in a directory of its own."""
    package = tmp_path / "src" / "headway"
    package.mkdir(parents=True)
    (tmp_path / "native").symlink_to(imports.REPOSITORY / "native")
    for entry in imports.ROOT.iterdir():
        if entry.name != "instruments":
            (package / entry.name).symlink_to(entry)
    return package


def carried_out(package: Path, *words: str) -> str:
    """What a command prints that has this package."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=package.parents[1],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


EACH_MODULE = """
import importlib, sys, headway
from pathlib import Path
assert Path(headway.__file__).parent == Path(sys.argv[1]), headway.__file__
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


def test_all_modules_of_the_core_load_without_instruments(core: Path) -> None:
    names = [
        name
        for name in modules()
        # aioquic's programs run in labs only.
        if name == "headway" or package(name) not in ("instruments", "aioquic")
    ]
    carried_out(core, "-c", EACH_MODULE, str(core), *names)


@pytest.mark.parametrize("words", ["--help", "list studies", "plan quickstart", "schema"])
def test_commands_run_without_instruments(core: Path, words: str) -> None:
    shown = carried_out(core, "-m", "headway", *words.split())
    assert "census" not in shown


def is_private(name: str) -> bool:
    """As libraries name what they do not export; ``__future__`` is exported."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def test_one_module_has_what_a_library_does_not_export() -> None:
    """Whose version has an upper bound."""
    private = {
        name
        for name, file in modules().items()
        for found in (imports.facts(file).names, imports.facts(file).for_types)
        for library, taken in found
        if not library.startswith("headway") and is_private(f"{library}.{taken}")
    }
    assert private == {"headway.cli.typerparts"}
    project = tomllib.loads((imports.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    (typer,) = (one for one in project["project"]["dependencies"] if one.startswith("typer"))
    assert "<" in typer


MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 40


def test_modules_are_short() -> None:
    lengths = {name: len(file.read_text().splitlines()) for name, file in modules().items()}
    assert not {name: length for name, length in lengths.items() if length > MOST_LINES}


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_functions_are_short(name: str) -> None:
    """Without their signature and docstring: what has to be read to know what they do."""
    long = {}
    for one, file in modules().items():
        if one == "headway" or package(one) != name:
            continue
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                if length > MOST_LINES_OF_A_FUNCTION:
                    long[f"{one}.{node.name}"] = length
    assert not long


def takes_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    args = node.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return any(one.arg not in ("self", "cls") for one in named) or bool(args.vararg or args.kwarg)


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_public_functions_with_arguments_say_what_they_do(name: str) -> None:
    """Overriding methods are what they override, and a name may say all where nothing is passed."""
    silent = {
        f"{one}.{node.name}"
        for one, file in modules().items()
        if one != "headway" and package(one) == name
        for holder in ast.walk(tree(file))
        if isinstance(holder, ast.Module | ast.ClassDef)
        and not getattr(holder, "name", "").startswith("_")
        for node in holder.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and takes_arguments(node)
        and not ast.get_docstring(node)
        and "override" not in map(ast.unparse, node.decorator_list)
    }
    assert not silent


SAME_WORD = {
    "Capture": "a setting's, and what the agent is told of it",
    "Change": "a path's, and what the agent is told of it",
    "Migration": "a workload, and what the agent is told of it",
    "Queue": "a path's, and as it is written for tc",
    "ReverseProxy": "a hop's, and the adapter of such a program",
}
"""Names that two classes have: the same thing, as two packages speak of it (docs/glossary.md)."""


def test_a_class_name_stands_once() -> None:
    places: dict[str, list[str]] = {}
    for module, file in modules().items():
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice.keys() == SAME_WORD.keys(), twice
    assert all(len(found) == 2 for found in twice.values()), twice
