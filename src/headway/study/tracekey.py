"""Traces in a study's values: what they hold stands beside their names, and is named by a hash in what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from headway.traces.account import trace_account

TRACE_KEY = "opportunities_ms"
"""Key under which a trace's contents stand beside its name in a study."""
KNOWN_KEY = "known"
"""Key under which an account of a trace, with its hash, stands in the place of its contents."""


def without_traces(value: Any) -> Any:
    """A study's value, its traces by name only."""
    if isinstance(value, Mapping):
        return {
            key: without_traces(inner)
            for key, inner in value.items()
            if not (key == TRACE_KEY or (key == KNOWN_KEY and "trace" in value))
        }
    if isinstance(value, list):
        return [without_traces(inner) for inner in value]
    return value


def with_accounts(value: Any) -> Any:
    """A study's value, with accounts of its traces in the place of what they hold."""
    if isinstance(value, Mapping):
        by_value = {key: with_accounts(inner) for key, inner in value.items() if key != TRACE_KEY}
        if times := value.get(TRACE_KEY):
            by_value[KNOWN_KEY] = asdict(trace_account(tuple(times)))
        return by_value
    if isinstance(value, list):
        return [with_accounts(inner) for inner in value]
    return value
