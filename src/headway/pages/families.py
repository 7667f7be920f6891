"""Families of addresses that Chromium tried for a page, by its log, and over which the page came."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from headway.pages.load import PageLoad
from headway.pages.netlog import BEGIN, read_events
from headway.study.family import Family, HostAddress

_TCP, _UDP = "TCP_CONNECT_ATTEMPT", "UDP_CONNECT"
_EARLY_MS = 10
"""Chromium begins the document's connection a moment before its navigation starts."""


@dataclass(frozen=True)
class Attempt:
    """A connection that the browser began.

    Attributes:
        family: of the address.
        at_s: when, after navigation start.
    """

    family: Family
    at_s: float


def attempts(load: PageLoad, servers: Collection[HostAddress]) -> Iterator[Attempt]:
    """The connections that it began since navigation start, in this order; none without its log.

    Args:
        load: the page's.
        servers: addresses that count. To another one it begins a connection only to know whether there is a route.
    """
    if load.net_log is None:
        return
    from_ms = load.time_origin_ms - _EARLY_MS
    for _, at_ms, event in read_events(load.net_log, (_TCP, _UDP)):
        address = _address(event.get("params", {}).get("address", ""))
        if event["phase"] == BEGIN and at_ms >= from_ms and address in servers:
            yield Attempt(address.family, (at_ms - load.time_origin_ms) / 1e3)


def family_of(load: PageLoad) -> str | None:
    """The family over which the first response came."""
    known = (resource.remote_address for resource in load.resources if resource.from_network)
    first = next((address for address in known if address), None)
    return str(_address(first).family) if first else None


def _address(with_port: str) -> HostAddress:
    return HostAddress(with_port.rpartition(":")[0].strip("[]"))
