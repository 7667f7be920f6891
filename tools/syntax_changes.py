"""Changes of a program's syntax that change what it does, for `tools/mutations.py`, and the drawing of some.

Left alone: annotations, the parameters of `@dataclass`, parts of f-strings (Python 3.11 misplaces them), and arithmetic
with a text, which could only fail.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

_COMPARISONS = (
    "Lt LtE, LtE Lt, Gt GtE, GtE Gt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is, In NotIn, NotIn In"
)
_ARITHMETIC = "Add Sub, Sub Add, Mult Div, Div Mult, FloorDiv Div, Mod Mult, Pow Mult"
_OTHER = dict(pair.split() for pair in f"{_COMPARISONS}, {_ARITHMETIC}".split(", "))


@dataclass(frozen=True)
class Mutation:
    """One change: the bytes of a file from `start` to `end` become `text`."""

    file: Path
    line: int
    kind: str
    start: int
    end: int
    text: str

    def before(self) -> str:
        """What the source has there, in one line."""
        return " ".join(self.file.read_bytes()[self.start : self.end].decode().split())

    def applied(self) -> bytes:
        """The file's content with it."""
        source = self.file.read_bytes()
        return source[: self.start] + self.text.encode() + source[self.end :]

    def changes_syntax(self) -> bool:
        """Whether the file remains Python, and another program than before."""
        try:
            after = ast.dump(ast.parse(self.applied()))
        except SyntaxError:
            return False
        return after != ast.dump(ast.parse(self.file.read_bytes()))


_Change = tuple[str, ast.expr | ast.stmt, str]
"""A kind, the node in whose place a text comes, and the text."""


def _changes(node: ast.AST) -> Iterator[_Change]:
    """All changes of one node; replacements have parentheses, since what is around them may bind more closely."""
    match node:
        case ast.Compare(left, ops, comparators):
            for place, op in enumerate(ops):
                other = [*ops[:place], _other(op), *ops[place + 1 :]]
                text = ast.unparse(ast.Compare(left, other, comparators))
                yield "comparison", node, f"({text})"
        case ast.BoolOp(op, values):
            swapped = ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield "and, or", node, f"({ast.unparse(swapped)})"
        case ast.UnaryOp(ast.Not(), operand):
            yield "not dropped", node, f"({ast.unparse(operand)})"
        case ast.BinOp(left, op, right) if _name(op) in _OTHER and not _is_text(left, right):
            text = ast.unparse(ast.BinOp(left, _other(op), right))
            yield "arithmetic", node, f"({text})"
        case ast.AugAssign(target, op, value) if _name(op) in _OTHER and not _is_text(value):
            text = ast.unparse(ast.AugAssign(target, _other(op), value))
            yield "arithmetic", node, text
        case ast.Constant(bool(value)):
            yield "True, False", node, str(not value)
        case ast.Constant(int(value) | float(value)):
            yield "number", node, repr(value + 1)
        case ast.Call(func, args, keywords):
            for place, (first, second) in enumerate(pairwise(args)):
                if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                    other_args = [*args[:place], second, first, *args[place + 2 :]]
                    yield "arguments", node, ast.unparse(ast.Call(func, other_args, keywords))
        case ast.Return(ast.expr() as result) if ast.unparse(result) != "None":
            yield "return", result, "None"
    for condition in _conditions(node):
        if not isinstance(condition, ast.UnaryOp):  # whose `not` is dropped
            yield "condition", condition, f"(not ({ast.unparse(condition)}))"


def _name(op: ast.AST) -> str:
    return type(op).__name__


def _other(op: ast.AST) -> Any:
    return getattr(ast, _OTHER[_name(op)])()


def _conditions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(ast.Name("TYPE_CHECKING")):
            return []
        case ast.If(test) | ast.IfExp(test):
            return [test]
        case ast.comprehension():
            return node.ifs
    return []


def _is_text(*nodes: ast.expr) -> bool:
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for node in nodes
    )


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a node that are mutated, too."""
    match node:
        case ast.JoinedStr() | ast.arg():
            return
        case ast.If(ast.Name("TYPE_CHECKING")):
            yield from node.orelse
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (*node.decorator_list, node.args, *node.body)
        case ast.ClassDef():
            marks = (mark for mark in node.decorator_list if "dataclass" not in ast.unparse(mark))
            yield from (*node.bases, *node.keywords, *marks, *node.body)
        case _:
            yield from ast.iter_child_nodes(node)


def mutations_of(file: Path) -> Iterator[Mutation]:
    """All mutations of a file."""
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    open_ends: list[ast.AST] = [ast.parse(source)]
    while open_ends:
        node = open_ends.pop()
        open_ends += _parts(node)
        for kind, place, text in _changes(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
            yield Mutation(file, place.lineno, kind, start, end, text)


def draw(files: Iterable[Path], seed: int, number: int) -> list[Mutation]:
    """As many mutations, each of another line; of lines that have any, all are equally likely."""
    lines: dict[tuple[Path, int], list[Mutation]] = {}
    for file in files:
        for mutation in mutations_of(file):
            lines.setdefault((file, mutation.line), []).append(mutation)
    chance = random.Random(seed)
    places = sorted(lines)
    chance.shuffle(places)
    drawn = (chance.choice(lines[place]) for place in places)
    valid = (mutation for mutation in drawn if mutation.changes_syntax())
    return [*islice(valid, number)]
