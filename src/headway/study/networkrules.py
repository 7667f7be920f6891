"""Rules of a network: its size, and what the flows over it cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headway.study.edge import Edge
from headway.study.flow import MOST_HOSTS, CompetingFlow
from headway.study.hop import Hop
from headway.study.network import NetworkHost, StatedFlow, StatedNetwork
from headway.study.path import Path
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.settingkeys import Routing, SettingKeys
from headway.study.units import Duration
from headway.study.workload import Workload

_MOST_NETWORKS = 256
"""Between all neighbours, routers of links included: of IPv4, 10.0.0.0/24 to 10.0.255.0/24."""
_NOTHING = Hop(name="nothing")


@dataclass(frozen=True)
class Asking:
    """What states a workload.

    Attributes:
        key: what its keys in the study file begin with.
        said: the study's keys, or a flow's table.
        flows: that it states.
    """

    key: str
    said: SettingKeys | CompetingFlow
    flows: tuple[StatedFlow, ...]

    @property
    def workload(self) -> Workload:
        return self.said.workload

    @property
    def paths(self) -> tuple[Path, ...]:
        """All that its packets may cross, without cables."""
        return tuple(edge.path for flow in self.flows for edge in flow.edges if edge.path)


@dataclass(frozen=True)
class NetworkView:
    """A setting's network, beside the keys that state it."""

    keys: SettingKeys
    network: StatedNetwork

    @property
    def limit(self) -> Duration:
        """When a run is given up."""
        return self.keys.limits.virtual

    @cached_property
    def asking(self) -> tuple[Asking, ...]:
        """What states workloads: the study, or each of its flows."""
        flows = self.network.flows
        if not self.keys.flows:
            return (Asking("", self.keys, flows),)
        return tuple(
            Asking(f"flows.{name}.", flow, tuple(own for own in flows if own.said is flow))
            for name, flow in self.keys.flows.items()
        )

    @property
    def hosts(self) -> int:
        return len(self.keys.hosts)

    @property
    def stating(self) -> str:
        """The key that makes it large."""
        return next((key for key in ("links", "flows", "hops") if getattr(self.keys, key)), "hops")

    @property
    def networks(self) -> int:
        edges = self.network.edges
        return sum(2 * len(edge.path.links) + 1 if edge.path else 1 for edge in edges)

    @property
    def has_contacts(self) -> bool:
        links = (link for path in self.network.paths for link in path.links)
        return any(way.contacts for link in links for way in (link.up, link.down))

    @cached_property
    def added(self) -> set[str]:
        """Names of the hosts that the lab adds for flows."""
        return {
            name
            for flow in self.network.flows
            for name in (
                *(() if flow.said and flow.said.between else (flow.client, flow.server)),
                *(edge.right for edge in flow.origins.values()),
                *((flow.resolver,) if flow.resolver else ()),
            )
        }

    @cached_property
    def crossing(self) -> Counter[str]:
        """How many flows cross a host between their ends."""
        flows, between = self.network.flows, self.network.between.keys()
        return Counter(
            host
            for flow in flows
            for host in (flow.crossed_hosts - {flow.client, flow.server}) & between
        )

    @cached_property
    def ending(self) -> Counter[str]:
        """How many flows begin or end at a host."""
        return Counter(end for flow in self.network.flows for end in (flow.client, flow.server))


@dataclass(frozen=True)
class _RuledHost:
    """A host of a network."""

    name: str
    host: NetworkHost
    view: NetworkView

    @property
    def key(self) -> str:
        return self.host.key or "hops"

    @property
    def ends(self) -> int:
        return self.view.ending[self.name]

    @property
    def crossing(self) -> int:
        return self.view.crossing[self.name]

    @property
    def has_tables(self) -> bool:
        return self.host.hop != _NOTHING.model_copy(update={"name": self.name})


@dataclass(frozen=True)
class _CrossedEdge:
    """An edge that packets of a flow may cross."""

    edge: Edge
    flow: StatedFlow

    @property
    def has_nat(self) -> bool:
        return bool(self.edge.path and any(link.nat for link in self.edge.path.links))

    @property
    def is_first(self) -> bool:
        return self.edge.name == self.flow.route[0].name


@dataclass(frozen=True)
class _FollowingHost:
    """A host at an edge that packets which follow contacts may cross."""

    name: str
    flow: StatedFlow
    view: NetworkView

    @property
    def links(self) -> int:
        return sum(self.name in (edge.left, edge.right) for edge in self.flow.followed)

    @property
    def is_end(self) -> bool:
        return self.name in (self.flow.client, self.flow.server)

    @property
    def between(self) -> NetworkHost | None:
        return self.view.network.between.get(self.name)

    @property
    def key(self) -> str:
        return (self.between and self.between.key) or "proxy"

    @property
    def has_programs(self) -> bool:
        return self.between is not None and self.between.hop.splits


@dataclass(frozen=True)
class _QuestionWay:
    """What the questions of a flow's client cross on their way to a resolver."""

    flow: StatedFlow
    view: NetworkView

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.flow.resolving

    @property
    def proxy(self) -> str | None:
        """The first host on it that passes on no packets of others."""
        between = self.view.network.between
        hosts = [edge.left for edge in self.edges[1:]]
        return next((name for name in hosts if name in between and between[name].hop.proxy), None)

    @property
    def is_stated(self) -> bool:
        """Whether answers would go back by the flow's own way, which its `via` states, beside contacts."""
        follows = self.view.keys.routing is Routing.CONTACTS
        return len(self.edges) > 1 and follows and self.flow.asking is None


def _hosts_between(view: NetworkView) -> Iterator[_RuledHost]:
    return (_RuledHost(name, host, view) for name, host in view.network.between.items())


def _hosts_at_ends(view: NetworkView) -> Iterator[_RuledHost]:
    for name, hop in view.keys.hosts.items():
        if view.ending[name]:
            yield _RuledHost(name, NetworkHost(f"hosts.{name}", hop), view)


def _route_edges(view: NetworkView) -> Iterator[_CrossedEdge]:
    for flow in view.network.flows:
        yield from (_CrossedEdge(edge, flow) for edge in (*flow.route, *flow.resolving))


def _followed_edges(view: NetworkView) -> Iterator[_CrossedEdge]:
    for flow in view.network.flows:
        yield from (_CrossedEdge(edge, flow) for edge in flow.followed)


def _following_hosts(view: NetworkView) -> Iterator[_FollowingHost]:
    for flow in view.network.flows:
        names = {name: None for edge in flow.followed for name in (edge.left, edge.right)}
        yield from (_FollowingHost(name, flow, view) for name in names)


def _question_ways(view: NetworkView) -> Iterator[_QuestionWay]:
    return (_QuestionWay(flow, view) for flow in view.network.flows)


NETWORK_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, NetworkView](
        "a network",
        lambda view: [view],
        (
            RuleRow(
                f"has {MOST_HOSTS} hosts of `[hosts]` at most",
                "hosts",
                lambda view: view.hosts > MOST_HOSTS,
                f"{{it.hosts}} hosts; a lab has {MOST_HOSTS} at most",
            ),
            RuleRow(
                f"has {_MOST_NETWORKS} networks at most, three for a link",
                "{it.stating}",
                lambda view: view.networks > _MOST_NETWORKS,
                f"too many hosts and links: {{it.networks}} networks, and a lab has {_MOST_NETWORKS} at most, three for a link",
            ),
            RuleRow(
                "in which packets follow contacts has a link with `contacts`",
                "routing",
                lambda view: view.keys.routing is Routing.CONTACTS and not view.has_contacts,
                '"contacts" is by plans of contacts, and no link has any',
                "state `contacts` of a link, or leave out routing",
            ),
        ),
    ),
    RuleTable[NetworkView, _RuledHost](
        "a host between the ends of the path",
        _hosts_between,
        (
            RuleRow(
                "has another name than the hosts that the lab adds for a flow",
                "{it.key}",
                lambda host: host.name in host.view.added,
                "{it.name!r} is the name of a host that the lab adds for a flow",
                "call it otherwise",
            ),
            RuleRow(
                "with programs that split connections is crossed by one flow",
                "{it.key}",
                lambda host: host.host.hop.splits and host.crossing > 1,
                "{it.crossing} flows cross it, and its programs split connections of one",
            ),
        ),
    ),
    RuleTable[NetworkView, _RuledHost](
        "a host of `[hosts]` where a flow begins or ends",
        _hosts_at_ends,
        (
            RuleRow(
                "is the end of one flow only",
                "{it.key}",
                lambda host: host.ends > 1,
                "{it.ends} flows begin or end there",
                "say enters and leaves instead of between, and each has a host of its own behind this one",
            ),
            RuleRow(
                "has no keys of its own",
                "{it.key}",
                lambda host: host.has_tables,
                "a flow begins or ends there",
                "its programs and its kernel are said in the flow's tables",
            ),
        ),
    ),
    RuleTable[NetworkView, _FollowingHost](
        "a host that packets which follow contacts may cross",
        _following_hosts,
        (
            RuleRow(
                "has one link if a flow begins or ends there",
                "routing",
                lambda host: host.is_end and host.links > 1,
                "packets follow contacts, and {it.name} has several links",
                "put a host of [hosts] between, which has them",
            ),
            RuleRow(
                "has no programs",
                "{it.key}",
                lambda host: host.has_programs,
                "packets follow contacts, and some would pass its programs by",
                "state the way by `via = [{it.name!r}]`",
            ),
        ),
    ),
    RuleTable[NetworkView, _QuestionWay](
        "the way to a resolver",
        _question_ways,
        (
            RuleRow(
                "crosses no reverse proxy",
                "dns.at",
                lambda way: way.proxy,
                "the reverse proxy {it.proxy} passes on no packets of others",
                "name a host before it",
            ),
            RuleRow(
                "follows contacts if its flow has no `via`",
                "dns.at",
                lambda way: way.is_stated,
                "other packets follow contacts, and answers go back by the way that via states",
                "leave out dns.at, via or routing",
            ),
        ),
    ),
    RuleTable[NetworkView, _CrossedEdge](
        "a path on a flow's route",
        _route_edges,
        (
            RuleRow(
                "has its NAT at the client's end",
                "{it.edge.key}.nat",
                lambda crossed: crossed.edge.turned and crossed.has_nat,
                "the flow crosses it from {it.edge.left} to {it.edge.right}, and a NAT is at the first end of a link",
                "change the order in between",
            ),
        ),
    ),
    RuleTable[NetworkView, _CrossedEdge](
        "a path that packets which follow contacts may cross",
        _followed_edges,
        (
            RuleRow(
                "has no NAT, but for the client's own link",
                "{it.edge.key}.nat",
                lambda crossed: not crossed.is_first and crossed.has_nat,
                "packets follow contacts, and may cross it from either end",
                "only the client's own link can have a NAT",
            ),
        ),
    ),
)
"""Those of the network that a setting states."""
