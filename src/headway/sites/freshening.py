"""Header fields of a stored response after a server said that it has not changed (RFC 9111, section 4.3.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headway.sites.captured import Captured
from headway.sites.site import Header

_OF_THE_BODY = frozenset(
    ("content-length", "content-encoding", "content-range", "transfer-encoding", "trailer")
)
"""Fields that say how the body of a message is framed and coded: a 304 has none (RFC 9111, section 3.2)."""
_TYPE = "content-type"


def freshened(
    stored: Iterable[Header], unchanged: Iterable[Header], kind: str = ""
) -> tuple[Header, ...]:
    """Fields of the response with content that a 304 stands for.

    Args:
        stored: fields of the 200 that is known; none if it is not.
        unchanged: fields of the 304.
        kind: media type of the content, if no field tells it.
    """
    before = tuple(stored)
    newer = [
        (name, value)
        for name, value in unchanged
        if name.lower() not in _OF_THE_BODY or (not before and name.lower() == "content-encoding")
    ]
    names = {name.lower() for name, _ in newer}
    fields = [*((name, value) for name, value in before if name.lower() not in names), *newer]
    if kind and not any(name.lower() == _TYPE for name, _ in fields):
        fields.append((_TYPE, kind))
    return tuple(fields)


def with_content(captured: Captured) -> Captured:
    """A 304 to which a tool adds the content, as the 200 that it stands for; any other response as it is.

    Only tools that hand over what a browser has do so: the message itself ends behind its fields (RFC 9112, section 6.3).
    """
    if captured.status != 304 or not captured.body or not captured.is_decoded:
        return captured
    return replace(captured, status=200, headers=freshened((), captured.headers, captured.kind))
