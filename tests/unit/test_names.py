"""Names are nouns: of modules' subjects, and of what a name is bound to."""

from __future__ import annotations

import ast

from tests.imports import modules, tree

INTERROGATIVES = frozenset(
    {"How", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"}
)


def test_a_modules_docstring_begins_with_its_subject() -> None:
    """A clause says what something does before it says what it is."""
    clauses = [
        name
        for name, file in modules().items()
        if (words := (ast.get_docstring(tree(file)) or "").split())
        and words[0].strip(",:") in INTERROGATIVES
    ]
    assert not clauses
