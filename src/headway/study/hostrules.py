"""Rules of hosts and links as a study states them: their names, and those that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.errors import nearest
from headway.study.flowrules import places_of
from headway.study.hop import Hop
from headway.study.network import PROXY
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.settingkeys import SettingKeys

_NO_PATH = Hop(name="nothing").path


@dataclass(frozen=True)
class _StatedHost:
    """A host that a study states."""

    name: str
    hop: Hop
    keys: SettingKeys

    @property
    def is_end(self) -> bool:
        return bool(self.keys.flows) and self.name in self.keys.ends

    @property
    def is_on_the_way(self) -> bool:
        return any(self.name == hop.name for hop in self.keys.middleboxes)


@dataclass(frozen=True)
class _NamedPlace:
    """A host or link that a list of names names, which there may be or not."""

    key: str
    name: str
    known: list[str]
    more: str = ""

    @property
    def hint(self) -> str:
        known = f"there are {', '.join(self.known)}" if self.known else "there is none"
        return nearest(self.name, self.known, then=f"{known}{self.more}")


def _hops(keys: SettingKeys) -> Iterator[_StatedHost]:
    return (_StatedHost(name, hop, keys) for name, hop in keys.hops.items())


def _hosts(keys: SettingKeys) -> Iterator[_StatedHost]:
    return (_StatedHost(name, host, keys) for name, host in keys.hosts.items())


def _link_ends(keys: SettingKeys) -> Iterator[_NamedPlace]:
    places, more = places_of(keys), "; more hosts are tables [hosts.NAME]"
    for name, link in keys.links.items():
        yield from (_NamedPlace(f"links.{name}.between", end, places, more) for end in link.between)


def _stops(keys: SettingKeys) -> Iterator[_NamedPlace]:
    known = [*places_of(keys), *keys.links]
    ways = {f"flows.{name}.via": flow.via for name, flow in keys.flows.items()} | {"via": keys.via}
    for key, via in ways.items():
        yield from (_NamedPlace(key, stop, known) for stop in via)


def _resolver_places(keys: SettingKeys) -> Iterator[_NamedPlace]:
    if keys.dns and keys.dns.at is not None:
        routers = keys.ends if keys.flows else ()
        ends = {end for flow in keys.flows.values() for end in flow.between or ()}
        chain = [hop.name for hop in keys.middleboxes]
        known = [name for name in (*routers, *chain, *keys.hosts) if name not in ends]
        yield _NamedPlace("dns.at", keys.dns.at, known)


def _named_like_no_end(key: str) -> RuleRow[_StatedHost]:
    return RuleRow(
        "does not have the name of an end of the path that flows share",
        key,
        lambda host: host.is_end,
        "{it.name!r} is the name of a router at an end of the shared path",
    )


HOST_RULES: tuple[RuleTable[SettingKeys, Any], ...] = (
    RuleTable[SettingKeys, _StatedHost](
        "a host of `[[hops]]`",
        _hops,
        (
            RuleRow(
                "has no programs if the study has `flows`",
                "hops",
                lambda hop: hop.keys.flows and hop.hop.splits,
                "flows share paths, not programs",
                "{it.name} may only route",
            ),
            _named_like_no_end("hops"),
            RuleRow(
                f"is not called {PROXY} if the study has `[proxy]`",
                "hops",
                lambda hop: hop.keys.proxy and hop.name == PROXY,
                "{it.name!r} is the name of the host of [proxy]",
            ),
        ),
    ),
    RuleTable[SettingKeys, _StatedHost](
        "a host of `[hosts]`",
        _hosts,
        (
            _named_like_no_end("hosts"),
            RuleRow(
                "has no path",
                "hosts.{it.name}.path",
                lambda host: host.hop.path != _NO_PATH,
                "what lies between hosts is said by [[links]]",
            ),
            RuleRow(
                "has another name than the hosts on the way",
                "hosts.{it.name}",
                lambda host: host.is_on_the_way,
                "{it.name!r} is the name of a host on the way already",
            ),
        ),
    ),
    RuleTable[SettingKeys, _NamedPlace](
        "the ends of a link",
        _link_ends,
        (
            RuleRow(
                "are hosts that the study has",
                "{it.key}",
                lambda place: place.name not in place.known,
                "no host {it.name!r}{it.hint}",
            ),
        ),
    ),
    RuleTable[SettingKeys, _NamedPlace](
        "what `via` names",
        _stops,
        (
            RuleRow(
                "is a host or link that the study has",
                "{it.key}",
                lambda place: place.name not in place.known,
                "no host and no link {it.name!r}{it.hint}",
            ),
        ),
    ),
    RuleTable[SettingKeys, _NamedPlace](
        "the host at which a resolver's path begins (`dns.at`)",
        _resolver_places,
        (
            RuleRow(
                "is a host between clients and servers",
                "{it.key}",
                lambda place: place.name not in place.known,
                "{it.name!r} is no host between client and server{it.hint}",
            ),
        ),
    ),
    RuleTable[SettingKeys, SettingKeys](
        "a setting",
        lambda keys: [keys],
        (
            RuleRow(
                "has no `via` beside flows",
                "via",
                lambda keys: keys.flows and keys.via,
                "each flow has a way of its own",
                "flows.NAME.via",
            ),
        ),
    ),
)
"""Those of hosts and links as a study states them."""
