"""Tagged netstrings, the encoding of mitmproxy's flow files.

A value is its length in decimal, a colon, its data, and a byte that tells its type:

- ``,`` bytes, ``;`` text in UTF-8, ``#`` a whole number, ``^`` a number, ``!`` true or false,
- ``~`` nothing, ``]`` a list: its values one after the other,
- ``}`` a mapping: its keys and values in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

Value: TypeAlias = "bytes | str | int | float | bool | list[Value] | dict[str, Value] | None"

_LONGEST_LENGTH = 12  # digits


class TnetstringError(Exception):
    """The data are not a sequence of tagged netstrings."""


def values(data: bytes) -> Iterator[Value]:
    """The values that stand one after the other.

    Raises:
        TnetstringError: the data is something else, or ends too early.
    """
    at = 0
    while at < len(data):
        colon = data.find(b":", at, at + _LONGEST_LENGTH + 1)
        digits = data[at : max(colon, at)]
        if not digits.isdigit():
            raise TnetstringError(f"no length at byte {at}")
        end = colon + 1 + int(digits)
        if end >= len(data):
            raise TnetstringError(f"the value at byte {at} ends too early")
        yield _value(data[colon + 1 : end], data[end : end + 1])
        at = end + 1


def _value(data: bytes, tag: bytes) -> Value:
    try:
        match tag:
            case b",":
                return data
            case b";":
                return data.decode()
            case b"#":
                return int(data)
            case b"^":
                return float(data)
            case b"!" if data in (b"true", b"false"):
                return data == b"true"
            case b"~" if not data:
                return None
            case b"]":
                return list(values(data))
            case b"}":
                return _mapping(list(values(data)))
    except ValueError as error:
        raise TnetstringError(f"{data[:20]!r} is not a value of type {tag.decode()!r}") from error
    raise TnetstringError(f"no value has type {tag!r}")


def _mapping(entries: list[Value]) -> dict[str, Value]:
    if len(entries) % 2:
        raise TnetstringError("a mapping has a key without a value")
    mapping: dict[str, Value] = {}
    for key, value in zip(entries[::2], entries[1::2], strict=True):
        name = key.decode() if isinstance(key, bytes) else key  # older files have bytes
        if not isinstance(name, str):
            raise TnetstringError("a mapping has a key that is not text")
        mapping[name] = value
    return mapping


def encoded(value: Value) -> bytes:
    """A value as a tagged netstring."""
    data, tag = _data(value)
    return b"%d:%s%s" % (len(data), data, tag)


def _data(value: Value) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"", b"~"
        case bool():
            return str(value).lower().encode(), b"!"
        case bytes():
            return value, b","
        case str():
            return value.encode(), b";"
        case int():
            return str(value).encode(), b"#"
        case float():
            return repr(value).encode(), b"^"
        case list():
            return b"".join(map(encoded, value)), b"]"
        case dict():
            entries = (encoded(key) + encoded(element) for key, element in value.items())
            return b"".join(entries), b"}"
