"""Checks that a page can be loaded as a setting says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.study.base_model import wrong
from headway.study.host import Protocol
from headway.study.path import Direction, Path
from headway.study.workload import Cache, Connections, Origins, Page


def check_page(
    page: Page, protocol: Protocol, paths: Sequence[Path | None], *, direct: bool, tls: bool
) -> None:
    """Check a page against the rest of a setting.

    Args:
        page: the workload.
        protocol: by which it is loaded.
        paths: between the hosts.
        direct: whether nothing between client and server splits connections.
        tls: whether connections are encrypted.

    Raises:
        PydanticCustomError: it cannot be loaded so; names the key.
    """
    if page.origins is Origins.OWN_ADDRESSES and not direct:
        raise wrong(
            "workload.origins",
            'origins = "own-addresses" is for paths without proxies and PEPs',
        )
    if page.connections is Connections.ONE:
        _check_one_connection(page, protocol)
    if page.cache is Cache.TICKETS and not tls:
        raise wrong("workload.cache", 'cache = "tickets" is about TLS: it needs tls = true')
    if page.cache is not Cache.COLD and any(map(begins_with_workload, paths)):
        raise wrong(
            "workload.cache",
            f'cache = "{page.cache}" loads the page before the workload begins, with which the '
            "packets of drop_packets are counted and a trace begins",
        )


def _check_one_connection(page: Page, protocol: Protocol) -> None:
    """Hosts share a connection if it is encrypted, multiplexed, and to the same address."""
    why = {
        'HTTP/1.1 has several connections to a host: it is for protocol = "h2" and "h3"': (
            protocol is Protocol.H1
        ),
        'origins = "own-addresses" gives each host a connection of its own': (
            page.origins is Origins.OWN_ADDRESSES
        ),
    }
    for reason, applies in why.items():
        if applies:
            raise wrong("workload.connections", f'connections = "one": {reason}')


def is_remembered(path: Path | None) -> bool:
    """Whether hosts or routers keep something of what a path did: path MTUs that they learned, counts of rules, mappings."""
    natted = any(link.nat for link in path.links) if path else False
    return natted or any(way.carries or way.udp or way.ecn for way in _ways(path))


def begins_with_workload(path: Path | None) -> bool:
    """Whether part of a path only begins with the workload."""
    rules = (rule for way in _ways(path) for rule in (way.udp, way.ecn))
    return counts_from_workload(path) or any(rule and rule.lasts for rule in rules)


def counts_from_workload(path: Path | None) -> bool:
    """Whether a path has a trace, or drops packets by their numbers: both begin with the workload."""
    return any(way.has_process or way.drop_packets for way in _ways(path))


def _ways(path: Path | None) -> Iterator[Direction]:
    for link in path.links if path else ():
        yield from (link.down, link.up)
