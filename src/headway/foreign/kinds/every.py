"""Every kind of file that is known."""

from __future__ import annotations

from collections.abc import Iterator

from headway.foreign.kinds import binary, containers, documents, identify, lines
from headway.foreign.kinds.model import FileKind

_ROOMS = (binary, documents, containers, lines, identify)


def every_kind() -> tuple[FileKind, ...]:
    """The kinds, each once, those that are read first."""
    kinds = dict.fromkeys(kind for room in _ROOMS for kind in _kinds_in(tuple(vars(room).values())))
    return tuple(sorted(kinds, key=lambda kind: not kind.is_read))


def _kinds_in(values: tuple[object, ...]) -> Iterator[FileKind]:
    """Kinds among values, in their tables, and in what tables say of them."""
    for value in values:
        named = getattr(value, "kind", value)
        if isinstance(named, FileKind):
            yield named
        elif isinstance(value, tuple):
            yield from _kinds_in(value)
        elif isinstance(value, dict) and value.keys() and "__name__" not in value:
            yield from _kinds_in(tuple(value.values()))
