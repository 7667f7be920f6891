"""Orders and answers as JSON."""

from __future__ import annotations

import dataclasses
import json
import typing
from functools import cache
from typing import Any, TypeVar

_T = TypeVar("_T")


_UNSAID: dict[str, Any] = {
    "both_families": False,
    "gro_flush_ns": None,
    "ends_at_ns": None,
    "family": "ipv4",
    "processors": (),
    "leaves_nothing": False,
    "root": "",
    "begins_in": "",
    "fault_links": (),
    "nft_rules": "",
    "policed": "",
    "udp_rules": "",
    "has_mtu": False,
    "maps": False,
    "maps_back": False,
    "ip_lines": (),
    "due_ns": None,
}
"""Fields, with their usual values, that are only written where they say something else."""


def dump(value: Any) -> str:
    """Write a dataclass of this package as JSON."""
    return json.dumps(dataclasses.asdict(value, dict_factory=_said), separators=(",", ":"))


def _said(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if key not in _UNSAID or value != _UNSAID[key]}


def load(kind: type[_T], text: str) -> _T:
    """Read a dataclass of this package from JSON.

    Raises:
        ValueError: it is no JSON, or another value.
    """
    raw = json.loads(text)
    try:
        return typing.cast(_T, _build(kind, raw))
    except (TypeError, AttributeError) as error:
        raise ValueError(f"no {kind.__name__}: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """What each field is: an outcome has many of a kind."""
    return typing.get_type_hints(kind)


def _build(kind: Any, raw: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(Any, kind))
        if unknown := raw.keys() - hints.keys():
            raise TypeError(
                f"{min(unknown)!r:.60} is no field of {typing.cast(Any, kind).__name__}"
            )
        return typing.cast(Any, kind)(
            **{key: _build(hints[key], value) for key, value in raw.items()}
        )
    if origin is dict:
        return {key: _build(arguments[1], item) for key, item in raw.items()}
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(_build(arguments[0], item) for item in raw)
    if origin is tuple:
        return tuple(raw)
    if type(None) in arguments:
        return None if raw is None else _build(arguments[0], raw)
    if isinstance(kind, type) and not isinstance(raw, (int, float) if kind is float else kind):
        raise TypeError(f"{raw!r:.60} is no {kind.__name__}")
    return raw
