"""Which module of Headway's or of its tests imports which, read from their texts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROOT = REPOSITORY / "src" / "headway"
TESTS = REPOSITORY / "tests"


def _named(root: Path) -> dict[str, Path]:
    files = {
        file.relative_to(root.parent).with_suffix("").parts: file for file in root.rglob("*.py")
    }
    return {".".join(parts).removesuffix(".__init__"): file for parts, file in files.items()}


@cache
def modules() -> dict[str, Path]:
    """Headway's modules."""
    return _named(ROOT)


@cache
def test_modules() -> dict[str, Path]:
    """The tests' modules, and what they share."""
    return _named(TESTS)


@cache
def tree(file: Path) -> ast.Module:
    """A file's syntax."""
    return ast.parse(file.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Facts:
    """What a file's syntax tells.

    Attributes:
        names: what it imports when it runs, at its start or later, and not for types alone: dotted names, each with
            the name that is taken from it, if one is.
        for_types: the same, of what it imports for types alone.
        called: functions that it calls by their bare names.
        texts: its constants that are texts.
    """

    names: tuple[tuple[str, str], ...]
    for_types: tuple[tuple[str, str], ...]
    called: frozenset[str]
    texts: frozenset[str]


@cache
def facts(file: Path) -> Facts:
    """What a file's syntax tells; each is read once."""
    tops: list[ast.AST] = [tree(file)]
    for_types: list[ast.AST] = []
    nodes, called, texts = list[ast.AST](), set[str](), set[str]()
    while tops:
        match node := tops.pop():
            case ast.If(test=test) if any(
                isinstance(part, ast.Name) and part.id == "TYPE_CHECKING" for part in ast.walk(test)
            ):
                for_types += node.body
                tops += node.orelse
                continue
            case ast.Call(func=ast.Name(id=name)):
                called.add(name)
            case ast.Constant(value=str(text)):
                texts.add(text)
        nodes.append(node)
        tops += ast.iter_child_nodes(node)
    return Facts(_names(nodes), _names(for_types), frozenset(called), frozenset(texts))


def _names(nodes: Iterable[ast.AST]) -> tuple[tuple[str, str], ...]:
    """What statements import."""
    names: list[tuple[str, str]] = []
    for node in nodes:
        match node:
            case ast.Import():
                names += [(alias.name, "") for alias in node.names]
            case ast.ImportFrom():
                names += [(str(node.module), alias.name) for alias in node.names]
    return tuple(names)


def imported(file: Path, known: dict[str, Path], *, for_types: bool = False) -> Iterator[str]:
    """Known modules that a file needs when it runs.

    Args:
        file: the file.
        known: the modules.
        for_types: also those that only its types need.
    """
    names = facts(file).names + (facts(file).for_types if for_types else ())
    for module, name in names:
        inside = f"{module}.{name}"
        if inside in known:
            yield inside
        elif module in known:
            yield module
