"""The lab's hosts as a graph: who is whose neighbour, over which veth pairs, with which addresses.

A path with n links lies between two hosts, each link between two routers of its own::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

Links are counted from the client on. Without a path two hosts are at both ends of a cable. A host may have
several neighbours towards clients, and several towards servers. Packets take the way of least delay, as
`headway.study.network` counts it, but those of flows whose way is stated.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from headway.study.edge import Edge, Interface, cost_of
from headway.study.family import Family, HostAddress
from headway.study.host import Host
from headway.study.kernel import TUNED, Kernel
from headway.study.leastcost import NOTHING, Cost, times
from headway.study.path import Link, Path, Way


@dataclass(frozen=True)
class Node:
    """A host, or a router.

    Attributes:
        name: of its namespace.
        downstream: its TCP towards the client; None for a router, which has no connections.
        upstream: its TCP towards the server.
        forwards: whether it routes packets that are not for itself.
        intercepts: port of the TCP connections that it takes out of what it routes, if any.
        client_devices: those towards its clients, if its TCP towards them is another one.
        more_addresses: that it has beside those of its wires, in the family's `origins_network`.
        kernel: how its kernel is set.
    """

    name: str
    downstream: Host | None = None
    upstream: Host | None = None
    forwards: bool = False
    intercepts: int | None = None
    client_devices: frozenset[str] = frozenset()
    more_addresses: tuple[HostAddress, ...] = ()
    kernel: Kernel = TUNED

    def towards(self, device: str) -> Host | None:
        """Its TCP towards whom a device of its leads to."""
        return self.downstream if device in self.client_devices else self.upstream

    @classmethod
    def end(cls, name: str, host: Host) -> Node:
        """A host whose TCP is the same on all sides, and which routes nothing."""
        return cls(name, host, host, kernel=host.kernel)

    @classmethod
    def router(cls, name: str) -> Node:
        """A host without connections of its own."""
        return cls(name, forwards=True)


Tree = tuple[Family, bool]
"""What wires have in common over which packets go on: the family of their addresses, and whether they are on the way from
a second interface."""


@dataclass(frozen=True)
class Wire:
    """A veth pair between two neighbours, the left one nearer to the client."""

    number: int
    left: str
    right: str
    left_device: str
    """In the left namespace, towards the server."""
    right_device: str
    """In the right namespace, towards the client."""
    family: Family
    """Of its addresses."""
    both: bool = False
    """Whether the hosts at the ends of its path have addresses of both families."""
    interface: Interface = Interface.FIRST
    """To which of its hosts' interfaces its path leads."""
    places: tuple[int, int] = (0, 0)
    """Of its left and its right end among the ends at these hosts, those towards clients first."""
    cost: Cost = NOTHING
    """Of crossing it, twice: half of that of its path, if it is at an end of one."""
    turned: bool = False
    """Whether it is seen from its other end."""

    @property
    def turned_around(self) -> Wire:
        """The same, seen from the other end."""
        return replace(
            self,
            left=self.right,
            right=self.left,
            left_device=self.right_device,
            right_device=self.left_device,
            places=self.places[::-1],
            turned=not self.turned,
        )

    def device(self, side: int) -> str:
        """That of the left (1) or right (2) end."""
        return self.left_device if side == LEFT else self.right_device

    def address(self, side: int) -> HostAddress:
        """Address of the left (1) or right (2) end."""
        end = LEFT + RIGHT - side if self.turned else side
        return self.family.address(self.number, end, both=self.both)

    @property
    def tree(self) -> Tree:
        """What it has in common with the other wires over which packets go on."""
        return self.family, self.second

    @property
    def second(self) -> bool:
        """Whether it is on the way from a client's second interface."""
        return self.interface is Interface.SECOND

    @property
    def network(self) -> str:
        return self.family.network(self.number, both=self.both)

    @property
    def wires_network(self) -> str:
        """That of all wires like it."""
        return self.family.chosen_network() if self.both else self.family.lab_network

    def mac(self, side: int) -> str:
        """Fixed hardware address of the left (1) or right (2) end."""
        return f"02:00:00:00:{self.number:02x}:{side:02x}"


LEFT, RIGHT = 1, 2
"""Sides of a wire."""


@dataclass(frozen=True)
class Bottleneck:
    """Where the counters of a direction are: its queue's and its delay line's devices."""

    queue_namespace: str
    queue_device: str
    loss_namespace: str
    loss_device: str


@dataclass(frozen=True)
class LinkPlace:
    """Where a link is: the wires before it, of it and after it, from the client's side.

    Towards the server, a packet meets the named drops and the queue with the rate when the link's
    left router sends to the right one, then delay, jitter and loss when that sends onward; towards
    the client the mirror image. Rate and loss never sit on an end host's own interface, where the
    sender's socket would feel back-pressure.
    """

    before: Wire
    inner: Wire
    after: Wire

    def bottleneck(self, way: Way) -> Bottleneck:
        """The devices of one direction."""
        if way is Way.UP:
            inner, out = self.inner, self.after
            return Bottleneck(inner.left, inner.left_device, out.left, out.left_device)
        inner, out = self.inner, self.before
        return Bottleneck(inner.right, inner.right_device, out.right, out.right_device)

    def arriving(self, way: Way) -> str:
        """The device on which a direction's packets come to the queue's router."""
        return self.before.right_device if way is Way.UP else self.after.left_device

    def leaving(self, way: Way) -> str:
        """The device on which they come to the router of the delay line, from the queue."""
        return self.inner.right_device if way is Way.UP else self.inner.left_device

    def name(self, way: Way) -> str:
        """Name of a direction, as ``link0-up``."""
        return f"{self.inner.left.removesuffix('a')}-{way}"


@dataclass(frozen=True)
class Leg:
    """Two neighbouring hosts, and what lies between them.

    Attributes:
        left: the host nearer to the client.
        right: the other one.
        path: between them; None for a cable.
        wires: from the left host to the right one.
    """

    left: str
    right: str
    path: Path | None
    wires: tuple[Wire, ...]

    @property
    def left_address(self) -> HostAddress:
        """Address of the left host."""
        return self.wires[0].address(1)

    @property
    def right_address(self) -> HostAddress:
        """Address of the right host."""
        return self.wires[-1].address(2)

    @property
    def is_turned(self) -> bool:
        """Whether it is seen from its other end."""
        return self.wires[0].turned

    @property
    def turned_around(self) -> Leg:
        """The same, seen from the other end."""
        path = self.path.turned_around if self.path else None
        wires = tuple(wire.turned_around for wire in reversed(self.wires))
        return Leg(self.right, self.left, path, wires)

    @property
    def links(self) -> tuple[tuple[Link, LinkPlace], ...]:
        """The path's links in their places; none of a cable."""
        links = self.path.links if self.path else ()
        return tuple(
            (link, LinkPlace(*self.wires[2 * number : 2 * number + 3]))
            for number, link in enumerate(links)
        )

    def bottlenecks(self, way: Way) -> tuple[Bottleneck, ...]:
        """Where the counters of its links are, the client's link first.

        Of a cable, the only place is the sending host's own device, which counts packets.
        """
        if self.path:
            return tuple(place.bottleneck(way) for _, place in self.links)
        (wire,) = self.wires
        name, device = (
            (wire.left, wire.left_device) if way is Way.UP else (wire.right, wire.right_device)
        )
        return (Bottleneck(name, device, name, device),)


def bottlenecks(legs: Iterable[Leg], way: Way) -> tuple[Bottleneck, ...]:
    """Where the counters of all links are, the client's first."""
    return tuple(place for leg in legs for place in leg.bottlenecks(way))


def lay_out(edges: Sequence[Edge], paths: Sequence[Path | None]) -> tuple[Leg, ...]:
    """Number the wires and routers of a network.

    Args:
        edges: of the network, in the order of their numbers.
        paths: what a run meets on each of them; None for a cable.
    """
    wires, links = itertools.count(), itertools.count()
    beside = [edge for edge in edges if not edge.aside]
    upward, downward = Counter(edge.left for edge in beside), Counter(edge.right for edge in beside)
    dual = {
        host
        for edge in edges
        if edge.interface is Interface.OTHER_FAMILY
        for host in (edge.left, edge.right)
    }
    legs = []
    for at, (edge, path) in enumerate(zip(edges, paths, strict=True)):
        left, right = edge.left, edge.right
        numbers = [next(links) for _ in (path.links if path else ())]
        stops = [left, *(f"link{number}{side}" for number in numbers for side in "ab"), right]
        made = []
        for near, far in itertools.pairwise(stops):
            number = next(wires)
            up = f"{near}-up{number}" if edge.aside or upward[near] > 1 else f"{near}-up"
            down = f"{far}-down{number}" if edge.aside or downward[far] > 1 else f"{far}-down"
            wire = Wire(
                number,
                near,
                far,
                up,
                down,
                edge.family,
                both={left, right} <= dual,
                interface=edge.interface,
                cost=times(cost_of(edge, at), (near == left) + (far == right)),
            )
            made.append(wire)
        legs.append(Leg(left, right, path, tuple(made)))
    return _with_places(legs)


def _with_places(legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """The legs, whose wires know which they are at their hosts."""
    wires = [wire for leg in legs for wire in leg.wires]
    downward, upward = Counter(wire.right for wire in wires), Counter[str]()
    seen = Counter[str]()
    places = {}
    for wire in wires:
        places[wire.number] = downward[wire.left] + upward[wire.left], seen[wire.right]
        upward[wire.left] += 1
        seen[wire.right] += 1
    return tuple(
        replace(leg, wires=tuple(replace(wire, places=places[wire.number]) for wire in leg.wires))
        for leg in legs
    )
