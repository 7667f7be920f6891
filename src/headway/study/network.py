"""A network: hosts, the paths between them, and the flows that cross these.

A single download is a network of two hosts, one edge and one flow. The keys of a study file are spelled out to a network
in `headway.study.spelling`; whatever asks what lies between hosts reads it here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headway.study.contactgraph import Plan
from headway.study.edge import Edge, NoWayError, cost_of
from headway.study.flow import CompetingFlow
from headway.study.hop import Hop
from headway.study.leastcost import Cost, nearest_first
from headway.study.path import Path

CLIENT, PROXY, SERVER, RESOLVER = "client", "proxy", "server", "resolver"
"""Names of the hosts of a study that names no flows: those at the ends, the proxy of one that is no hop's, and who answers
questions of DNS."""


@dataclass(frozen=True)
class NetworkHost:
    """A host between the ends of flows.

    Attributes:
        key: of its table in the study file; empty if it has none.
        hop: what the study says of it.
    """

    key: str
    hop: Hop


@dataclass(frozen=True)
class PlannedWays:
    """The ways of packets that follow contacts: those of a flow, or its questions and their answers.

    Attributes:
        there: of every host, by which edge it sends packets for the flow's server, or for its resolver, on.
        back: the same of those for its client.
        edges: that they may cross, each as in the network.
    """

    there: Mapping[str, Plan]
    back: Mapping[str, Plan]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class StatedFlow:
    """A flow as a study states it: who asks whom, and over what.

    Attributes:
        client: name of the host that asks.
        server: name of the host that answers.
        route: the edges between them, the client's first, each as the client sees it; where packets follow contacts, the way
            of one that leaves at once.
        name: what it is called beside others; empty if the study says only one flow.
        key: of its table in the study file; empty then, too.
        said: its table; None then.
        number: from 1; 0 then.
        beside: other edges between its client and server, which take over or are tried, too.
        resolving: the edges from its client to the resolver that this asks; none if it is told the address.
        origins: from the end of the route's path to servers of other hosts of its page, by their names.
        planned: its ways if its packets follow contacts; None if they keep to the route.
        asking: those of its questions, likewise.
    """

    client: str
    server: str
    route: tuple[Edge, ...]
    name: str = ""
    key: str = ""
    said: CompetingFlow | None = None
    number: int = 0
    beside: tuple[Edge, ...] = ()
    resolving: tuple[Edge, ...] = ()
    origins: Mapping[str, Edge] = field(default_factory=dict)
    planned: PlannedWays | None = None
    asking: PlannedWays | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts on its route, its client first."""
        return (self.client, *(edge.right for edge in self.route))

    @property
    def resolver(self) -> str | None:
        """Name of the host that its client asks for addresses."""
        return self.resolving[-1].right if self.resolving else None

    @property
    def paths(self) -> tuple[Path | None, ...]:
        """Those on its route, the client's first; None for a cable."""
        return tuple(edge.path for edge in self.route)

    @property
    def certain(self) -> tuple[Edge, ...]:
        """The edges that all its packets cross: those of its route, or if they follow contacts the only ones of its ends."""
        return self.route if self.planned is None else (self.route[0], self.route[-1])

    @property
    def followed(self) -> tuple[Edge, ...]:
        """The edges that its packets and questions cross by contacts, without a resolver's own."""
        plans = [ways.edges for ways in (self.planned, self.asking) if ways]
        own = self.resolving[-1:]
        by_name = {edge.name: edge for edges in plans for edge in edges}
        return tuple(edge for edge in by_name.values() if edge.is_apart_from(own))

    @property
    def crossed(self) -> tuple[Edge, ...]:
        """Those on its route, and on other ways that its packets may take."""
        others = self.planned.edges if self.planned else ()
        return (*self.route, *(edge for edge in others if edge.is_apart_from(self.route)))

    @property
    def crossed_hosts(self) -> set[str]:
        """Names of the hosts that they join."""
        return {name for edge in self.crossed for name in (edge.left, edge.right)}

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All that its packets may cross."""
        crossed = self.crossed
        asked = {edge.name: edge for edge in (*self.followed, *self.resolving)}
        resolving = [edge for edge in asked.values() if edge.is_apart_from(crossed)]
        return (*crossed, *resolving, *self.beside, *self.origins.values())


@dataclass(frozen=True)
class StatedNetwork:
    """Hosts, edges and flows.

    Attributes:
        between: the hosts that are no end of a flow, by name.
        names: of all hosts, in the order in which a lab lists them.
        edges: in the order in which a lab numbers them.
        common: those of them that are no flow's own.
        flows: in the order of the study file.
    """

    between: Mapping[str, NetworkHost]
    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    common: tuple[Edge, ...]
    flows: tuple[StatedFlow, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """All paths as the study states them, without cables."""
        return tuple(edge.path for edge in self.edges if edge.path)

    @property
    def crossed(self) -> tuple[Path, ...]:
        """Those between clients and servers that are no flow's own."""
        names = {edge.name for flow in self.flows for edge in flow.crossed}
        return tuple(edge.path for edge in self.common if edge.path and edge.name in names)


def route_between(
    edges: Sequence[Edge], ends: Collection[str], client: str, server: str, via: Sequence[str] = ()
) -> tuple[Edge, ...]:
    """The way of least delay from a client to a server, each edge as the client sees it.

    Args:
        edges: that there are.
        ends: names of hosts that pass on no packets.
        client: name of the host where it begins.
        server: name of the host where it ends.
        via: names of hosts and edges that it crosses, in this order.

    Raises:
        NoWayError: there is none; says between which hosts.
    """
    by_name = {edge.name: edge for edge in edges}
    route: list[Edge] = []
    here = client
    for stop in (*via, server):
        if edge := by_name.get(stop):
            route += _to_edge(edges, ends, here, edge, server)
        else:
            route += _shortest(edges, ends, here, stop)
        here = route[-1].right if route else here
    crossed = Counter([client, *(edge.right for edge in route)])
    if twice := next((name for name, times in crossed.items() if times > 1), None):
        raise NoWayError(
            f"the way from {client} to {server} crosses {twice} twice: leave out what leads back"
        )
    return tuple(route)


def _to_edge(
    edges: Sequence[Edge], ends: Collection[str], here: str, edge: Edge, server: str
) -> list[Edge]:
    """To the nearer end of an edge, and over it."""
    others = [other for other in edges if other is not edge]
    ways = []
    for crossed in (edge, edge.turned_around):
        begins_at_end = crossed.left in ends and crossed.left != here
        if begins_at_end or (crossed.right in ends and crossed.right != server):
            continue
        try:
            ways.append([*_shortest(others, ends, here, crossed.left), crossed])
        except NoWayError:
            continue
    if not ways:
        raise NoWayError(
            f"there is no way from {here} over the link {edge.name.rpartition('/')[2]}"
        )
    return min(ways, key=lambda way: sum(crossed.rtt.ns for crossed in way))


def _shortest(edges: Sequence[Edge], ends: Collection[str], start: str, end: str) -> list[Edge]:
    around: dict[str, list[tuple[Cost, str, Edge]]] = {}
    for number, edge in enumerate(edges):
        cost = cost_of(edge, number)
        around.setdefault(edge.left, []).append((cost, edge.right, edge))
        around.setdefault(edge.right, []).append((cost, edge.left, edge))

    def onward(here: str) -> list[tuple[Cost, str, Edge]]:
        return [] if here in ends and here != start else around.get(here, [])

    came_by: dict[str, Edge] = {}
    for here, edge_there in nearest_first(start, onward):
        if edge_there:
            came_by[here] = edge_there if edge_there.right == here else edge_there.turned_around
        if here == end:
            return list(_back(came_by, start, end))
    raise NoWayError(f"there is no way from {start} to {end}: state a link that leads on")


def _back(came_by: Mapping[str, Edge], start: str, end: str) -> Iterable[Edge]:
    way = []
    while end != start:
        way.append(came_by[end])
        end = came_by[end].left
    return reversed(way)
