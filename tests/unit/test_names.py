"""Names are nouns: of modules' subjects, and of what a name is bound to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.doc_examples import ROOT
from tests.imports import modules, tree

INTERROGATIVES = frozenset(
    {"How", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"}
)


def test_a_modules_docstring_begins_with_its_subject() -> None:
    """A clause says what something does before it says what it is."""
    clauses = [
        name
        for name, module in _trees()
        if (words := (ast.get_docstring(module) or "").split())
        and words[0].strip(",:") in INTERROGATIVES
    ]
    assert not clauses


ADJECTIVES = frozenset({"found", "held", "item", "one", "said", "told"})
"""They say what was done to a thing, or that it is one of several, and not which thing it is."""


def test_nothing_in_a_function_is_called_by_what_was_done_to_it() -> None:
    called = [
        f"{name}:{node.lineno} {word}"
        for name, module in _trees()
        for node in ast.walk(module)
        if (word := _bound(node)) in ADJECTIVES
    ]
    assert not called


def _trees() -> Iterator[tuple[str, ast.Module]]:
    """All modules, and those that the recipes for contributors have as examples."""
    yield from ((name, tree(file)) for name, file in modules().items())
    page = "CONTRIBUTING.md"
    examples = re.findall(
        r"^```python\n(.*?)^```",
        (ROOT / page).read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    yield from ((f"{page}: {example.splitlines()[0]}", ast.parse(example)) for example in examples)


def _bound(node: ast.AST) -> str | None:
    """The name that a node binds; fields of classes are annotated, and read beside their class."""
    match node:
        case ast.arg(arg=word):
            return word
        case ast.Assign(targets=[ast.Name(id=word)]) | ast.NamedExpr(target=ast.Name(id=word)):
            return word
        case ast.For(target=target) | ast.comprehension(target=target):
            words = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
            return next((word for word in words if word in ADJECTIVES), None)
    return None
