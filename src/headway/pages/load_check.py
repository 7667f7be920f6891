"""The protocol of a page load: whether it came whole, over the version and the connections that it should have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from headway.pages.load import PageLoad
from headway.pages.resource import Resource

PROTOCOL_IDS = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
"""ALPN identifiers (RFC 7301, section 6; RFC 9113, section 3.1; RFC 9114, section 3.1)."""


NONE: Mapping[str, str] = MappingProxyType({})

_TRANSPORT_ERRORS = tuple(
    f"net::ERR_{kind}"
    for kind in (
        "ADDRESS_",
        "CERT_",
        "CONNECTION_",
        "CONTENT_LENGTH_MISMATCH",
        "EMPTY_RESPONSE",
        "HTTP2_",
        "INCOMPLETE_",
        "INVALID_HTTP_RESPONSE",
        "NETWORK_",
        "QUIC_",
        "SOCKET_",
        "SSL_",
        "TIMED_OUT",
    )
)
"""Of Chromium's errors, those of connections and of HTTP; pages cause others, as of names that there are not."""
_GATEWAY_STATUSES = (502, 503, 504)
"""What a gateway answers for a server that it has no answer of (RFC 9110, section 15.6)."""


def missing_error(load: PageLoad) -> str | None:
    """What a browser was to have and did not get, in a line; None if it got all.

    Its connection broke off, or a gateway had no answer. Such a page is loaded for the browser,
    early, and what it shows is measured against itself. What a page asks for in vain does not
    count: names and paths that there are not, and what the browser forbids it or it gives up.
    """
    missing = [resource for resource in load.resources if _why_missing(resource)]
    if not missing:
        return None
    first = missing[0]
    text = f"{first.url}: {_why_missing(first)}"
    return f"{len(missing)} of {len(load.resources)} resources did not come: {text}"


def _why_missing(resource: Resource) -> str | None:
    if resource.status in _GATEWAY_STATUSES:
        return f"status {resource.status}"
    broke = resource.error and resource.error.startswith(_TRANSPORT_ERRORS)
    return resource.error if broke else None


def protocol_error(load: PageLoad, expected: str, by_host: Mapping[str, str] = NONE) -> str | None:
    """The first resource that came over another protocol than it should have, in a line.

    All that a server answered counts, with any status, 304 among them, whenever it was requested;
    what came from the browser's cache does not, as its protocol is that of an earlier load.

    Args:
        load: to be checked.
        expected: ``h1``, ``h2`` or ``h3``.
        by_host: the same of hosts that speak another one.

    Returns:
        None if all came over the expected one.
    """
    for resource in load.resources:
        wanted = PROTOCOL_IDS[by_host.get(resource.host, expected)]
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
    text = "; ".join(map(_told, carried.values()))
    return f"the page was loaded over {len(carried)} connections instead of one: {text}"


def _told(resources: Iterable[Resource]) -> str:
    first, *others = resources
    return f"{first.url} and {len(others)} more" if others else first.url
