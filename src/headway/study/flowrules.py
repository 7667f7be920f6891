"""Rules of flows that compete: their names, where they begin and end, and what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.errors import nearest
from headway.study.flow import CLIENTS, FLOW_NAME, MOST_HOSTS, SERVERS, CompetingFlow
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.settingkeys import SettingKeys
from headway.study.workload import Connections

_OF_OWN_HOSTS = ("access", "server_access", "enters", "leaves")
"""Keys of a flow between hosts of its own."""


def places_of(keys: SettingKeys) -> list[str]:
    """Names of the hosts to which links may lead, and where flows may begin and end."""
    chain = [hop.name for hop in keys.middleboxes]
    return [*keys.ends, *chain, *keys.hosts]


@dataclass(frozen=True)
class _Flows:
    """All flows of a setting."""

    keys: SettingKeys

    @property
    def hosts(self) -> int:
        return sum(2 * flow.count for flow in self.keys.flows.values())

    @property
    def sites(self) -> dict[str, str]:
        """By site, the last flow that loads it."""
        flows = self.keys.flows.items()
        return {
            flow.workload.replay.site: name for name, flow in flows if flow.workload.replay.site
        }

    @property
    def last_page(self) -> str:
        return list(self.sites.values())[-1]

    @property
    def named_sites(self) -> str:
        return " and ".join(self.sites)


@dataclass(frozen=True)
class _Flow:
    """A flow among others."""

    name: str
    said: CompetingFlow
    keys: SettingKeys

    @property
    def chain(self) -> list[str]:
        return [CLIENTS, *self.keys.hops, SERVERS]

    @property
    def leads_back(self) -> bool:
        ends, chain = (self.said.enters, self.said.leaves), self.chain
        along = set(ends) <= set(chain)
        return ends[0] == ends[1] or (along and chain.index(ends[0]) > chain.index(ends[1]))

    @property
    def own(self) -> str | None:
        """A key that it states and that is of a flow between hosts of its own."""
        return next((key for key in _OF_OWN_HOSTS if key in self.said.model_fields_set), None)


@dataclass(frozen=True)
class _FlowPlace:
    """A host that a flow names, by a key of it."""

    flow: str
    key: str
    name: str
    known: list[str]
    what: str

    @property
    def hint(self) -> str:
        return nearest(self.name, self.known, then=f"there are {', '.join(self.known)}")


def _flows(keys: SettingKeys) -> Iterator[_Flow]:
    return (_Flow(name, flow, keys) for name, flow in keys.flows.items())


def _flows_of_own_hosts(keys: SettingKeys) -> Iterator[_Flow]:
    return (flow for flow in _flows(keys) if not flow.said.between)


def _flows_of_named_hosts(keys: SettingKeys) -> Iterator[_Flow]:
    return (flow for flow in _flows(keys) if flow.said.between)


def _flow_places(keys: SettingKeys) -> Iterator[_FlowPlace]:
    known = places_of(keys)
    for name, flow in keys.flows.items():
        if flow.between:
            hosts = [place for place in known if place not in (CLIENTS, SERVERS)]
            yield from (_FlowPlace(name, "between", host, hosts, "host") for host in flow.between)
        else:
            for key in ("enters", "leaves"):
                yield _FlowPlace(name, key, getattr(flow, key), known, "hop")


FLOW_RULES: tuple[RuleTable[SettingKeys, Any], ...] = (
    RuleTable[SettingKeys, _Flows](
        "all flows",
        lambda keys: [_Flows(keys)],
        (
            RuleRow(
                f"have {MOST_HOSTS} hosts at most, two for each flow",
                "flows",
                lambda flows: flows.hosts > MOST_HOSTS,
                f"{{it.hosts}} hosts; a lab has {MOST_HOSTS} at most, two for each flow",
            ),
            RuleRow(
                "load pages of one site",
                "flows.{it.last_page}.workload.site",
                lambda flows: len(flows.sites) > 1,
                "flows load one site, and here are {it.named_sites}",
            ),
        ),
    ),
    RuleTable[SettingKeys, _FlowPlace](
        "the ends of a flow",
        _flow_places,
        (
            RuleRow(
                "are hosts that the study has",
                "flows.{it.flow}.{it.key}",
                lambda place: place.name not in place.known,
                "no {it.what} {it.name!r}{it.hint}",
            ),
        ),
    ),
    RuleTable[SettingKeys, _Flow](
        "a flow",
        _flows,
        (
            RuleRow(
                "has a name of at most 20 lower-case letters, digits and hyphens",
                "flows",
                lambda flow: not FLOW_NAME.fullmatch(flow.name),
                "{it.name!r} is not the name of a flow",
                "at most 20 lower-case letters, digits and hyphens",
            ),
            RuleRow(
                "has no page whose hosts speak several versions of HTTP",
                "flows.{it.name}.workload.versions",
                lambda flow: flow.said.workload.replay.mixes_versions,
                "a page among flows that compete has one server",
                "leave out this key",
            ),
            RuleRow(
                "does not migrate",
                "flows.{it.name}.workload.kind",
                lambda flow: flow.said.workload.migrates,
                "a {it.said.workload.kind} is not for flows that compete",
            ),
            # The lab has one certificate.
            RuleRow(
                "has no page over one connection",
                "flows.{it.name}.workload.connections",
                lambda flow: flow.said.workload.replay.one_connection,
                f'connections = "{Connections.ONE}" is for a page without other flows',
            ),
        ),
    ),
    RuleTable[SettingKeys, _Flow](
        "a flow between hosts of its own",
        _flows_of_own_hosts,
        (
            RuleRow(
                "enters the shared path (`enters`) before it leaves it (`leaves`)",
                "flows.{it.name}.leaves",
                lambda flow: flow.leads_back,
                "{it.said.leaves} does not come after {it.said.enters}, where the flow enters",
            ),
        ),
    ),
    RuleTable[SettingKeys, _Flow](
        "a flow between hosts that the study names",
        _flows_of_named_hosts,
        (
            RuleRow(
                "has two different hosts in `between`",
                "flows.{it.name}.between",
                lambda flow: len(set(flow.said.between or ())) == 1,
                "a flow needs two hosts",
            ),
            RuleRow(
                "has no `count` above 1",
                "flows.{it.name}.count",
                lambda flow: flow.said.count > 1,
                "hosts that a study names are there once",
                "leave out between",
            ),
            RuleRow(
                f"has none of the keys {', '.join(_OF_OWN_HOSTS)}",
                "flows.{it.name}.{it.own}",
                lambda flow: flow.own,
                "it is of a flow between hosts of its own, and between names them",
                "leave out between or this key",
            ),
        ),
    ),
)
"""Those of flows as a study states them."""
