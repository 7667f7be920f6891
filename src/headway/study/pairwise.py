"""Contenders that are every two of some flows, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

VERSUS = " v "
"""Between the names of flows in the name of a contender."""


def with_pairs(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An experiment's tables in which ``pairwise`` stands as contenders.

    Each of its flows is a contender alone, beside another of its own kind, and beside every other.
    Unless the study says otherwise, what a flow has beside another is compared with what it has
    beside its own kind.
    """
    flows = raw.get("pairwise")
    if not isinstance(flows, dict):
        return dict(raw)
    rest = {key: value for key, value in raw.items() if key != "pairwise"}
    pairs = list(combinations_with_replacement(flows, 2))
    contenders = {f"{name} alone": {"flows": {name: flow}} for name, flow in flows.items()} | {
        f"{first}{VERSUS}{other}": {"flows": _beside(flows, first, other)} for first, other in pairs
    }
    usual = [
        (f"{first}{VERSUS}{other}", f"{first}{VERSUS}{first}")
        for first, other in pairs
        if first != other
    ]
    return {
        "comparisons": usual,
        **rest,
        "contenders": {**contenders, **rest.get("contenders", {})},
    }


def _beside(flows: Mapping[str, Any], text: str, other: str) -> dict[str, Any]:
    if text != other:
        return {text: flows[text], other: flows[other]}
    flow = flows[text]
    return {text: {**flow, "count": 2} if isinstance(flow, dict) else flow}
