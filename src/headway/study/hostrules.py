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
    """A host that a study states, in one of its tables."""

    table: str
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
        return nearest(self.name, self.known, then=f"there are {', '.join(self.known)}{self.more}")


def _stated_hosts(keys: SettingKeys) -> Iterator[_StatedHost]:
    for table in ("hops", "hosts"):
        hops: dict[str, Hop] = getattr(keys, table)
        yield from (_StatedHost(table, name, hop, keys) for name, hop in hops.items())


def _link_ends(keys: SettingKeys) -> Iterator[_NamedPlace]:
    places, more = places_of(keys), "; more hosts are tables [hosts.NAME]"
    for name, link in keys.links.items():
        yield from (_NamedPlace(f"links.{name}.between", end, places, more) for end in link.between)


def _stops(keys: SettingKeys) -> Iterator[_NamedPlace]:
    known = [*places_of(keys), *keys.links]
    ways = {f"flows.{name}.via": flow.via for name, flow in keys.flows.items()} | {"via": keys.via}
    for key, via in ways.items():
        yield from (_NamedPlace(key, stop, known) for stop in via)


HOST_RULES: tuple[RuleTable[SettingKeys, Any], ...] = (
    RuleTable[SettingKeys, _StatedHost](
        "a host of `[[hops]]` or `[hosts]`",
        _stated_hosts,
        (
            RuleRow(
                "beside flows has no programs if it is one of `[[hops]]`",
                "hops",
                lambda host: host.table == "hops" and host.keys.flows and host.hop.splits,
                "flows share paths, not programs",
                "{it.name} may only route",
            ),
            RuleRow(
                "is not called like an end of the path that flows share",
                "{it.table}",
                lambda host: host.is_end,
                "{it.name!r} is the name of a router at an end of the shared path",
            ),
            RuleRow(
                f"is not called {PROXY} beside `[proxy]`",
                "{it.table}",
                lambda host: host.table == "hops" and host.keys.proxy and host.name == PROXY,
                "{it.name!r} is the name of the host of [proxy]",
            ),
            RuleRow(
                "has no path if it is one of `[hosts]`",
                "hosts.{it.name}.path",
                lambda host: host.table == "hosts" and host.hop.path != _NO_PATH,
                "what lies between hosts is said by [[links]]",
            ),
            RuleRow(
                "is called otherwise than those on the way",
                "hosts.{it.name}",
                lambda host: host.table == "hosts" and host.is_on_the_way,
                "{it.name!r} is the name of a host on the way already",
            ),
        ),
    ),
    RuleTable[SettingKeys, _NamedPlace](
        "the ends of a link",
        _link_ends,
        (
            RuleRow(
                "are hosts that there are",
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
                "is a host or link that there is",
                "{it.key}",
                lambda place: place.name not in place.known,
                "no host and no link {it.name!r}{it.hint}",
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
