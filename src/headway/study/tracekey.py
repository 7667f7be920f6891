"""Traces in a study: their contents stand beside their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TRACE_KEY = "opportunities_ms"
"""Key under which a trace's contents stand beside its name in a study."""


def without_traces(value: Any) -> Any:
    """A study's value, its traces by name only."""
    if isinstance(value, Mapping):
        return {key: without_traces(one) for key, one in value.items() if key != TRACE_KEY}
    if isinstance(value, list):
        return [without_traces(one) for one in value]
    return value
