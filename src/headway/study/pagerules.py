"""Rules of pages: what the network and the protocol have to be for them, and servers of their hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.study.beginnings import begins_with_workload
from headway.study.flow import SERVERS
from headway.study.host import HTTP, Protocol
from headway.study.networkrules import Asking, NetworkView
from headway.study.origin import OriginServer
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.settingkeys import SettingKeys
from headway.study.workload import Cache, Connections, Origins, Page

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
_MOST = 32


@dataclass(frozen=True)
class _PageServers:
    """Servers for hosts of a page, which a study states, or a site's record does."""

    keys: SettingKeys

    @property
    def key(self) -> str:
        return "origins" if self.keys.origins else "workload.versions"

    @property
    def page(self) -> Page | None:
        return self.keys.workload if isinstance(self.keys.workload, Page) else None

    @property
    def splitting(self) -> str | None:
        """The first hop on the way to all of them that splits connections."""
        return next((name for name, hop in self.keys.hops.items() if hop.splits), None)

    @property
    def number(self) -> int:
        return len(self.keys.origins)


@dataclass(frozen=True)
class _NamedOrigin:
    """A server for hosts of a page, by its name."""

    name: str
    origin: OriginServer


@dataclass(frozen=True)
class _LoadedPage:
    """A page that is loaded."""

    page: Page
    asking: Asking
    view: NetworkView

    @property
    def key(self) -> str:
        return f"{self.asking.key}workload"

    @property
    def is_one_connection(self) -> bool:
        return self.page.connections is Connections.ONE

    @property
    def is_split(self) -> bool:
        """Whether programs between client and server split connections."""
        return any(hop.splits for hop in self.view.keys.hosts_between)


def _alone(view: NetworkView) -> list[SettingKeys]:
    return [] if view.keys.flows else [view.keys]


def _servers(view: NetworkView) -> Iterator[_PageServers]:
    return (_PageServers(keys) for keys in _alone(view) if keys.has_origins)


def _origins(view: NetworkView) -> Iterator[_NamedOrigin]:
    for keys in _alone(view):
        yield from (_NamedOrigin(name, origin) for name, origin in keys.origins.items())


def _pages(view: NetworkView) -> Iterator[_LoadedPage]:
    for asking in view.asking:
        if isinstance(asking.workload, Page):
            yield _LoadedPage(asking.workload, asking, view)


PAGE_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, _PageServers](
        "servers of a page's hosts (`[origins]`, `workload.versions`)",
        _servers,
        (
            RuleRow(
                'are for `workload.kind = "page"`',
                "origins",
                lambda servers: not servers.page,
                'servers of a page\'s hosts need workload.kind = "page"',
            ),
            RuleRow(
                "are not behind `[proxy]`",
                "{it.key}",
                lambda servers: servers.keys.proxy,
                "a reverse proxy answers for all hosts of a page",
                "leave out this key or proxy",
                shown="origins",
            ),
            RuleRow(
                f"have no hop that is called {SERVERS}",
                "hops",
                lambda servers: SERVERS in servers.keys.hops,
                f"{SERVERS!r} is the name of the router before the page's servers",
            ),
            RuleRow(
                "are behind `[[hops]]` that only route",
                "{it.key}",
                lambda servers: servers.splitting,
                "hops before servers of a page's hosts only route, and {it.splitting} splits connections",
                shown="origins",
            ),
            RuleRow(
                "are for TLS",
                "{it.key}",
                lambda servers: not servers.keys.tls,
                "needs tls = true, because each host announces its versions by TLS",
                shown="origins",
            ),
            RuleRow(
                'have a connection each, and no `workload.connections = "one"`',
                "workload.connections",
                lambda servers: servers.page and servers.page.connections is Connections.ONE,
                'connections = "one" is for hosts at one address',
            ),
            RuleRow(
                'have an address each, and no `workload.origins = "own-addresses"`',
                "workload.origins",
                lambda servers: servers.page and servers.page.origins is Origins.OWN_ADDRESSES,
                "hosts of [origins] have the address of their server",
            ),
            RuleRow(
                f"are {_MOST} at most",
                "origins",
                lambda servers: servers.number > _MOST,
                f"{{it.number}} of them; a lab has {_MOST} at most",
            ),
        ),
    ),
    RuleTable[NetworkView, _NamedOrigin](
        "a server of `[origins]`",
        _origins,
        (
            RuleRow(
                "has a name of at most 20 lower-case letters, digits and hyphens",
                "origins",
                lambda named: not _NAME.fullmatch(named.name),
                "{it.name!r} is no name: at most 20 lower-case letters, digits and hyphens",
            ),
            RuleRow(
                "speaks h1, h2 or h3",
                "origins.{it.name}.protocol",
                lambda named: named.origin.protocol not in HTTP,
                "a page's host speaks h1, h2 or h3, not {it.origin.protocol}",
            ),
        ),
    ),
    RuleTable[NetworkView, _LoadedPage](
        "a page",
        _pages,
        (
            RuleRow(
                'with `origins = "own-addresses"` has no programs between client and server',
                "{it.key}.origins",
                lambda loaded: loaded.page.origins is Origins.OWN_ADDRESSES and loaded.is_split,
                'origins = "own-addresses" is for paths without proxies and PEPs',
                shown="workload.origins",
            ),
            # Hosts share a connection if it is encrypted, multiplexed, and to the same address.
            RuleRow(
                'with `connections = "one"` is loaded by h2 or h3',
                "{it.key}.connections",
                lambda loaded: (
                    loaded.is_one_connection and loaded.asking.said.protocol is Protocol.H1
                ),
                'connections = "one": HTTP/1.1 has several connections to a host: it is for protocol = "h2" and "h3"',
                shown="workload.connections",
            ),
            RuleRow(
                'with `connections = "one"` has hosts at one address',
                "{it.key}.connections",
                lambda loaded: (
                    loaded.is_one_connection and loaded.page.origins is Origins.OWN_ADDRESSES
                ),
                'connections = "one": origins = "own-addresses" gives each host a connection of its own',
                shown="workload.connections",
            ),
            RuleRow(
                'with `cache = "tickets"` is loaded by TLS',
                "{it.key}.cache",
                lambda loaded: loaded.page.cache is Cache.TICKETS and not loaded.asking.said.tls,
                'cache = "tickets" is about TLS: it needs tls = true',
                shown="workload.cache",
            ),
            RuleRow(
                "that was loaded before has no path with a trace, `drop_packets`, or rules of `udp` or `ecn` that begin with the workload",
                "{it.key}.cache",
                lambda loaded: (
                    loaded.page.cache is not Cache.COLD
                    and any(map(begins_with_workload, loaded.asking.paths))
                ),
                'cache = "{it.page.cache}" loads the page before the workload, but a trace, the count of '
                "drop_packets, and rules of udp and ecn with an end begin with the workload",
                shown="workload.cache",
            ),
        ),
    ),
)
"""Those of pages."""
