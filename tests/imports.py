"""Which module of Headway's or of its tests imports which, read from their texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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


def imported(file: Path, known: dict[str, Path]) -> Iterator[str]:
    """Known modules that a file needs when it runs, at its start or later; not those for types alone."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree(file))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree(file)):
        if id(node) in typing_only or not isinstance(node, ast.ImportFrom | ast.Import):
            continue
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [one if one in known else str(node.module) for one in inside]
        yield from (one for one in found if one in known)
