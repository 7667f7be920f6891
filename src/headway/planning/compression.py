"""Dynamic tables of header compression: what a study may ask for together."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import Endpoint, Role
from headway.programs.native import PAGE_TABLE_BYTES

_ENTRY_BYTES = 32
"""What an entry takes at least (RFC 9204, section 3.2.1)."""


def check_compression(end: Endpoint, *, pages: bool) -> None:
    """Check that a program's dynamic tables can be what the study says.

    Args:
        end: the program.
        pages: whether a page is loaded.

    Raises:
        WrongInputError: they cannot: streams that wait for a table without entries.
    """
    capacity = _number(end, "qpack_capacity")
    if capacity is None:
        capacity = PAGE_TABLE_BYTES if end.role is Role.SERVER and pages else 0
    if 0 < capacity < _ENTRY_BYTES:
        raise WrongInputError(
            f"a dynamic table of {capacity} bytes holds nothing: an entry takes {_ENTRY_BYTES} "
            "bytes and more; 0 is no table",
            where=f"{end.where}.knobs.qpack_capacity",
        )
    streams = _number(end, "qpack_blocked_streams") or 0
    if streams and not capacity:
        raise WrongInputError(
            f"{streams} streams cannot wait for a dynamic table of 0 bytes: set qpack_capacity, "
            'as "4096", or let 0 streams wait',
            where=f"{end.where}.knobs.qpack_blocked_streams",
        )


def _number(end: Endpoint, name: str) -> int | None:
    """The number that is asked for; none if the program is to decide."""
    if name not in (knob.name for knob in end.adapter.knobs):
        return None
    value = end.adapter.knob(name, end.host)
    return None if value == "auto" else int(value)
