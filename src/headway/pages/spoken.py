"""Whether a page load came over the protocol and the connections that it should have."""

from __future__ import annotations

from collections.abc import Iterable

from headway.pages.load import PageLoad
from headway.pages.resource import Resource

PROTOCOL_IDS = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""ALPN identifiers (RFC 7301, section 6; RFC 9113, section 3.1; RFC 9114, section 3.1)."""


def protocol_error(load: PageLoad, expected: str) -> str | None:
    """The first resource that came over another protocol than it should have, in a line.

    All that a server answered counts, with any status, 304 among them, whenever it was requested;
    what came from the browser's cache does not, as its protocol is that of an earlier load.

    Args:
        load: to be checked.
        expected: ``h1``, ``h2`` or ``h3``.

    Returns:
        None if all came over the expected one.
    """
    wanted = PROTOCOL_IDS[expected]
    for resource in load.resources:
        if resource.from_network and resource.protocol != wanted:
            came = resource.protocol or "an unknown protocol"
            return f"{resource.url} was loaded over {came} instead of {wanted}"
    return None


def sharing_error(load: PageLoad) -> str | None:
    """What every connection carried, in a line, if a load had more than one; None if it had one.

    All that a server answered counts, as for `protocol_error`, if the browser tells its connection: it
    does not of the script that a worker begins with.
    """
    carried: dict[int, list[Resource]] = {}
    for resource in load.resources:
        if resource.from_network and resource.connection_id is not None:
            carried.setdefault(resource.connection_id, []).append(resource)
    if len(carried) == 1:
        return None
    told = "; ".join(map(_told, carried.values()))
    return f"the page was loaded over {len(carried)} connections instead of one: {told}"


def _told(resources: Iterable[Resource]) -> str:
    first, *others = resources
    return f"{first.url} and {len(others)} more" if others else first.url
