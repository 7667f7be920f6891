"""The lab's hosts as a tree: who is whose neighbour, over which veth pairs, with which addresses.

A path with n links lies between two hosts, each link between two routers of its own::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

Links are counted from the client on. Without a path two hosts are at both ends of a cable. A host may have
several neighbours towards clients, and several towards servers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headway.study.family import Family, HostAddress
from headway.study.host import Host
from headway.study.kernel import TUNED, Kernel
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
        more_addresses: that it has beside those of its wires, in the family's `origins_network`.
        kernel: how its kernel is set.
    """

    name: str
    downstream: Host | None = None
    upstream: Host | None = None
    forwards: bool = False
    intercepts: int | None = None
    more_addresses: tuple[HostAddress, ...] = ()
    kernel: Kernel = TUNED

    @classmethod
    def end(cls, name: str, host: Host) -> Node:
        """A host whose TCP is the same on all sides, and which routes nothing."""
        return cls(name, host, host, kernel=host.kernel)

    @classmethod
    def router(cls, name: str) -> Node:
        """A host without connections of its own."""
        return cls(name, forwards=True)


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
    second: bool = False
    """Whether it is on the way from a client's second interface."""

    def device(self, side: int) -> str:
        """That of the left (1) or right (2) end."""
        return self.left_device if side == _LEFT else self.right_device

    def address(self, side: int) -> HostAddress:
        """Address of the left (1) or right (2) end."""
        return self.family.address(self.number, side, both=self.both)

    @property
    def tree(self) -> tuple[Family, bool]:
        """What it has in common with the other wires of its tree."""
        return self.family, self.second

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


_LEFT, _RIGHT = 1, 2


@dataclass(frozen=True)
class Port:
    """A host's end of a wire.

    Attributes:
        wire: the wire.
        side: the left end (1), which is towards servers, or the right one (2).
        beyond: the wires' networks that are reached through it, beside the wire's own.
        origins: networks of hosts of pages that are reached through it.
    """

    wire: Wire
    side: int
    beyond: tuple[str, ...]
    origins: tuple[str, ...]

    @property
    def upward(self) -> bool:
        """Whether it is towards servers."""
        return self.side == _LEFT

    @property
    def device(self) -> str:
        return self.wire.device(self.side)

    @property
    def address(self) -> HostAddress:
        return self.wire.address(self.side)

    @property
    def other(self) -> int:
        """The side of the neighbour's end."""
        return _LEFT + _RIGHT - self.side


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


Neighbours = tuple[str, str, Path | None]
"""The host nearer to the clients, the other one, and the path between them; None for a cable."""


def lay_out(
    neighbours: Sequence[Neighbours],
    family: Family,
    aside: Sequence[Neighbours] = (),
    other: Sequence[Neighbours] = (),
    second: Sequence[Neighbours] = (),
) -> tuple[Leg, ...]:
    """Number the wires and routers of a tree of hosts.

    Args:
        neighbours: in the tree.
        family: of all addresses.
        aside: more of them, after which no device of the others is named.
        other: likewise, over the other family: their hosts have both.
        second: likewise, from second interfaces of hosts of the tree to others of it.
    """
    legs, wires, links = [], itertools.count(), itertools.count()
    upward = Counter(left for left, _, _ in neighbours)
    downward = Counter(right for _, right, _ in neighbours)
    dual = {host for left, right, _ in other for host in (left, right)}
    for is_aside, is_second, own, (left, right, path) in (
        *((False, False, family, one) for one in neighbours),
        *((True, False, family, one) for one in aside),
        *((True, False, family.other, one) for one in other),
        *((True, True, family, one) for one in second),
    ):
        both = {left, right} <= dual
        numbers = [next(links) for _ in (path.links if path else ())]
        routers = [f"link{number}{side}" for number in numbers for side in "ab"]
        made = []
        for near, far in itertools.pairwise([left, *routers, right]):
            number = next(wires)
            up = f"{near}-up{number}" if is_aside or upward[near] > 1 else f"{near}-up"
            down = f"{far}-down{number}" if is_aside or downward[far] > 1 else f"{far}-down"
            made.append(Wire(number, near, far, up, down, own, both, is_second))
        legs.append(Leg(left, right, path, tuple(made)))
    return tuple(legs)


def chain(
    hosts: Sequence[str], paths: Sequence[Path | None]
) -> tuple[tuple[str, str, Path | None], ...]:
    """Hosts in a row, from a client to a server, as neighbours.

    Args:
        hosts: their names.
        paths: between them, one fewer; None for a cable.
    """
    pairs = zip(itertools.pairwise(hosts), paths, strict=True)
    return tuple((left, right, path) for (left, right), path in pairs)


def ports(wires: Sequence[Wire], nodes: Iterable[Node]) -> Mapping[str, tuple[Port, ...]]:
    """The ports of every host and router, by its name, those towards clients first.

    Hosts of both families are a tree for each, and second interfaces have one of their own.
    """
    ends: dict[str, list[tuple[Wire, int]]] = {}
    for wire in wires:
        ends.setdefault(wire.left, []).append((wire, _LEFT))
        ends.setdefault(wire.right, []).append((wire, _RIGHT))
    with_origins = _origin_networks([node for node in nodes if node.more_addresses])

    def beyond(wire: Wire, side: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        neighbour = wire.right if side == _LEFT else wire.left
        networks: list[str] = []
        origins = with_origins.get(neighbour, ())
        for other, its_side in ends[neighbour]:
            if other is not wire and other.tree == wire.tree:
                farther, its_origins = beyond(other, its_side)
                networks += [other.network, *farther]
                origins += its_origins
        return tuple(networks), origins

    def port(wire: Wire, side: int) -> Port:
        networks, origins = beyond(wire, side)
        return Port(wire, side, networks, origins)

    return {
        name: tuple(
            port(wire, side)
            for wire, side in sorted(around, key=lambda end: (-end[1], end[0].number))
        )
        for name, around in ends.items()
    }


def _origin_networks(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Where hosts of pages have addresses of their own: the networks of these, by the server's name.

    All that there are belong to a server that is the only one.
    """
    if len(nodes) == 1:
        (node,) = nodes
        return {node.name: (node.more_addresses[0].family.origins_network,)}
    return {
        node.name: tuple(dict.fromkeys(one.network for one in node.more_addresses))
        for node in nodes
    }
