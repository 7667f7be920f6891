"""Orders and answers as JSON."""

from __future__ import annotations

import dataclasses
import json
import typing
from functools import cache
from typing import Any, TypeVar

_T = TypeVar("_T")


_OMITTED = {"omitted": True}


def omitted(default: _T) -> _T:
    """A field of a dataclass that is only written where it is another value than this default."""
    return dataclasses.field(default=default, metadata=_OMITTED)


def dump(value: Any) -> str:
    """Write a dataclass of this package as JSON."""
    return json.dumps(_raw(value), separators=(",", ":"))


def _raw(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {
            field.name: _raw(content)
            for field, content in pairs
            if not field.metadata.get("omitted") or content != field.default
        }
    if isinstance(value, dict):
        return {key: _raw(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_raw(element) for element in value]
    return value


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
        return {key: _build(arguments[1], element) for key, element in raw.items()}
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(_build(arguments[0], element) for element in raw)
    if origin is tuple:
        return tuple(raw)
    if type(None) in arguments:
        return None if raw is None else _build(arguments[0], raw)
    if isinstance(kind, type) and not isinstance(raw, (int, float) if kind is float else kind):
        raise TypeError(f"{raw!r:.60} is no {kind.__name__}")
    return raw
