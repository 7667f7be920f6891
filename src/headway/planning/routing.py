"""Routes: through which of its ports a host reaches which networks.

Packets take the way of least delay, as `headway.study.network` counts it, but those of flows whose way is stated.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headway.planning.topology import LEFT, RIGHT, Leg, Node, Tree, Wire
from headway.study.family import HostAddress
from headway.study.leastcost import Cost, nearest_first


@dataclass(frozen=True)
class Port:
    """A host's end of a wire.

    Attributes:
        wire: the wire.
        side: the left end (1), which is towards servers, or the right one (2).
        beyond: the wires' networks that are reached through it, beside the wire's own.
        origins: networks of hosts of pages that are reached through it.
        stated: addresses of other networks to which a flow's way leads through it.
        chosen: whether its host has several ways, so that some networks may be beyond none of its ports.
    """

    wire: Wire
    side: int
    beyond: tuple[str, ...]
    origins: tuple[str, ...]
    stated: tuple[HostAddress, ...] = ()
    chosen: bool = False

    @property
    def upward(self) -> bool:
        """Whether it is towards servers."""
        return self.side == LEFT

    @property
    def device(self) -> str:
        return self.wire.device(self.side)

    @property
    def address(self) -> HostAddress:
        return self.wire.address(self.side)

    @property
    def other(self) -> int:
        """The side of the neighbour's end."""
        return LEFT + RIGHT - self.side


def ports(
    wires: Sequence[Wire], nodes: Iterable[Node], stated: Iterable[StatedHop] = ()
) -> Mapping[str, tuple[Port, ...]]:
    """The ports of every host and router, by its name, those towards clients first.

    Args:
        wires: between them.
        nodes: those that are more than routers.
        stated: where packets go whose way is stated.
    """
    ends: dict[str, list[tuple[Wire, int]]] = {}
    for wire in wires:
        ends.setdefault(wire.left, []).append((wire, LEFT))
        ends.setdefault(wire.right, []).append((wire, RIGHT))
    hosts = {node.name: node for node in nodes}
    with_origins = _origin_networks([node for node in hosts.values() if node.more_addresses])
    passing = {name for name in ends if name not in hosts or hosts[name].forwards}
    loops = _loops(wires, ends)

    def of_host(name: str) -> Iterator[Port]:
        crossed: dict[tuple[Wire, int], bool] = {}
        for around in loops.values():
            crossed |= _crossed(name, around, passing)

        def beyond(wire: Wire, side: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
            if wire.tree in loops and not crossed.get((wire, side)):
                return (), ()
            neighbour = wire.right if side == LEFT else wire.left
            networks: list[str] = []
            origins = with_origins.get(neighbour, ())
            for other, its_side in ends[neighbour]:
                if other is wire or other.tree != wire.tree:
                    continue
                if wire.tree not in loops or (other, its_side) in crossed:
                    farther, its_origins = beyond(other, its_side)
                    networks += [other.network, *farther]
                    origins += its_origins
            return tuple(networks), origins

        for wire, side in sorted(ends[name], key=lambda end: (-end[1], end[0].number)):
            yield Port(wire, side, *beyond(wire, side), chosen=wire.tree in loops)

    made = {name: tuple(of_host(name)) for name in ends}
    for hop in stated:
        made[hop.host] = tuple(_with_stated(made[hop.host], hop))
    return made


@dataclass(frozen=True)
class StatedHop:
    """Where a host sends packets for an address, by a flow's way."""

    host: str
    device: str
    address: HostAddress


def stated_hops(legs: Sequence[Leg], positions: Iterable[int]) -> Iterator[StatedHop]:
    """The hops of a flow's way to its hosts at some positions, the client's being 0, and back."""
    wires = [wire for leg in legs for wire in leg.wires]
    ends = list(itertools.accumulate((len(leg.wires) for leg in legs), initial=0))
    for position in positions:
        before, behind = wires[: ends[position]], wires[ends[position] :]
        for wire in before:
            yield StatedHop(wire.left, wire.left_device, before[-1].address(RIGHT))
        for wire in behind:
            yield StatedHop(wire.right, wire.right_device, behind[0].address(LEFT))


def _with_stated(ports_of_host: Sequence[Port], hop: StatedHop) -> Iterator[Port]:
    """A host's ports, of which one leads to an address to which another one would lead."""
    for port in ports_of_host:
        leads = hop.address.network in (port.wire.network, *port.beyond)
        if port.device != hop.device or leads or hop.address in port.stated:
            yield port
        else:
            yield replace(port, stated=(*port.stated, hop.address))


def _loops(
    wires: Iterable[Wire], ends: Mapping[str, Sequence[tuple[Wire, int]]]
) -> Mapping[Tree, Mapping[str, Sequence[tuple[Wire, int]]]]:
    """The ends of wires at each host in a tree that is none, by tree and host."""
    return {
        tree: {
            name: [end for end in around if end[0].tree == tree] for name, around in ends.items()
        }
        for tree in _with_loops(wires)
    }


def _with_loops(wires: Iterable[Wire]) -> set[Tree]:
    """The trees that are none, because hosts have several ways between them."""
    looping: set[Tree] = set()
    groups: dict[tuple[Tree, str], set[tuple[Tree, str]]] = {}
    for wire in wires:
        near, far = (
            groups.setdefault((wire.tree, name), {(wire.tree, name)})
            for name in (wire.left, wire.right)
        )
        if near is far:
            looping.add(wire.tree)
            continue
        smaller, larger = sorted((near, far), key=len)
        larger |= smaller
        groups |= dict.fromkeys(smaller, larger)
    return looping


def _crossed(
    start: str, around: Mapping[str, Sequence[tuple[Wire, int]]], passing: Collection[str]
) -> dict[tuple[Wire, int], bool]:
    """The wires that a host's packets come to, with the side from which they do: whether they cross them.

    They cross those on the ways of least delay, and come to others from the nearer end, from one that passes packets on if
    there is.
    """

    def passes(here: str) -> bool:
        return here in passing or here == start

    def onward(here: str) -> Iterator[tuple[Cost, str, tuple[Wire, int]]]:
        for wire, side in around[here] if passes(here) else ():
            yield wire.cost, wire.right if side == LEFT else wire.left, (wire, side)

    crossed: dict[tuple[Wire, int], bool] = {}
    reached = []
    for here, came_by in nearest_first(start, onward):
        reached.append(here)
        if came_by:
            crossed[came_by] = True
    for here in sorted(reached, key=passes, reverse=True):
        for wire, side in around[here]:
            if (wire, LEFT + RIGHT - side) not in crossed:
                crossed.setdefault((wire, side), False)
    return crossed


def _origin_networks(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Where hosts of pages have addresses of their own: the networks of these, by the server's name.

    All that there are belong to a server that is the only one.
    """
    if len(nodes) == 1:
        (node,) = nodes
        return {node.name: (node.more_addresses[0].family.origins_network,)}
    return {
        node.name: tuple(
            dict.fromkeys(more_address.network for more_address in node.more_addresses)
        )
        for node in nodes
    }
