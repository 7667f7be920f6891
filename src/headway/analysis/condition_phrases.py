"""Conditions in the words of a sentence: ``without loss``, ``from 1 MB on``, ``at RTT 20 ms``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headway.analysis.cells import Cell
from headway.analysis.conditions import Conditions, Factor
from headway.analysis.numbers import listed
from headway.analysis.partition import Restriction
from headway.study.fault import AXIS

_MOST_NAMED = 4
_SHARE = re.compile(r"[\d.]+ %")
_ABSENT = frozenset({"0 %", "none", "0"})


def words(restriction: Restriction) -> str:
    """Some levels of a factor."""
    factor, levels = restriction.factor, restriction.levels
    if len(levels) == 1:
        return _at(factor, levels[0])
    if factor.values is None:
        return _at_these(factor, levels)
    values = factor.values
    ordered = sorted(range(len(values)), key=lambda level: values[level])
    own = sorted(levels, key=lambda level: values[level])
    first, last = _text(factor, own[0]), _text(factor, own[-1])
    if ordered.index(own[-1]) - ordered.index(own[0]) >= len(own):
        return _at_these(factor, own)
    if own[-1] == ordered[-1]:
        return f"from {first} on"
    return f"up to {last}" if own[0] == ordered[0] else f"from {first} to {last}"


def cell_words(conditions: Conditions, cell: Cell, known: Sequence[Restriction] = ()) -> str:
    """A cell, by what is not known of it already."""
    factors = [restriction.factor for restriction in known if len(restriction.levels) == 1]
    parts = [
        _at(factor, level)
        for factor, level in zip(conditions.factors, cell.levels, strict=True)
        if factor not in factors and level not in factor.unstated
    ]
    return " ".join(parts) or cell.title or "there"


def _at(factor: Factor, level: int) -> str:
    if factor.name == "loss":
        if factor.levels[level] in _ABSENT:
            return "without loss"
        return f"with {_text(factor, level)}"
    if factor.name == AXIS:
        none = factor.levels[level] in _ABSENT
        return "without a fault" if none else f"with the fault {factor.levels[level]}"
    return f"{_preposition(factor)} {_text(factor, level)}"


def _at_these(factor: Factor, levels: Sequence[int]) -> str:
    sentence = _at if factor.name == AXIS else _text
    named = [sentence(factor, level) for level in levels[:_MOST_NAMED]]
    if more := len(levels) - len(named):
        named.append(f"{more} more")
    if factor.name == AXIS:
        return listed(named)
    return f"{_preposition(factor)} {listed(named)}"


def _preposition(factor: Factor) -> str:
    if factor.name == "size":
        return "for"
    return "with" if factor.name.endswith("discipline") else "at"


def _text(factor: Factor, level: int) -> str:
    """``2 % loss``, ``10 per second``; of others what a title says."""
    if factor.name == "loss" and _SHARE.fullmatch(factor.levels[level]):
        return f"{factor.levels[level]} loss"
    if factor.name.startswith("per "):
        return f"{factor.levels[level]} {factor.name}"
    return factor.titles[level]
