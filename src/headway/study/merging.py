"""Tables of a study file put together: experiments, contenders, cells and flows refine what stands above them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.study.host import both

_BY_TRANSPORT = frozenset({"congestion_control", "initial_window"})
"""Keys of hosts whose value may be one for each transport."""


def with_value(raw: Mapping[str, Any], keys: list[str], value: Any) -> dict[str, Any]:
    """A table with another value at a place; what is unchanged is the same, not a copy."""
    key, *deeper = keys
    if deeper:
        value = with_value(_table(raw, key) or {}, deeper, value)
    return {**raw, key: value}


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    """The table at a key, None if there is none; of what holds for both transports, one of both."""
    value = raw.get(key)
    if isinstance(value, Mapping):
        return value
    return both(value) if key in _BY_TRANSPORT and value is not None else None


def merged(raw: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A table with changes: tables are merged, everything else is replaced.

    Knobs are those of a program: with another one, they go; so does what there is of a workload of
    another kind. What is unchanged is the same, not a copy.
    """
    result = dict(raw)
    if "program" in raw and changes.get("program", raw["program"]) != raw["program"]:
        result.pop("knobs", None)
    for key, value in changes.items():
        own = _table(result, key)
        if isinstance(value, Mapping) and own is not None and not _of_another_kind(own, value):
            result[key] = merged(own, value)
        else:
            result[key] = value
    return result


def _of_another_kind(own: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    return "kind" in own and changes.get("kind", own["kind"]) != own["kind"]
