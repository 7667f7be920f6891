"""A host's devices, addresses and routes, and the TCP that it has towards each side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from headway.lab.values import Address, CableCounter, IpValue, Neighbour, Route, RoutingRule, Up
from headway.planning.topology import Node, Wire
from headway.study.host import Host

_INTERCEPTION_TABLE = 102
"""Routing table of hosts that intercept TCP connections."""
ORIGINS_NETWORK = "10.200.0.0/16"
"""Addresses that the server's host may have beside its own."""

_IPV6_OFF = {
    # Each router solicitation or MLD packet would consume a draw of the loss sequence.
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}
_TCP_SYSCTLS = {
    # One connection's ssthresh must not leak into the next.
    "net.ipv4.tcp_no_metrics_save": "1",
    # A host whose first address goes keeps the others.
    "net.ipv4.conf.all.promote_secondaries": "1",
    # Autotuning may grow far beyond any path's bandwidth-delay product.
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 16384 67108864",
}


@dataclass(frozen=True)
class HostPlace:
    """Where a host is: all wires from the client to the server, and those that are cables."""

    node: Node
    wires: tuple[Wire, ...]
    cables: frozenset[Wire]

    @cached_property
    def left(self) -> Wire | None:
        """The wire towards the client."""
        return next((wire for wire in self.wires if wire.right == self.node.name), None)

    @cached_property
    def right(self) -> Wire | None:
        """The wire towards the server."""
        return next((wire for wire in self.wires if wire.left == self.node.name), None)

    @property
    def devices(self) -> tuple[str, ...]:
        """Its devices, that towards the client first."""
        down = (self.left.right_device,) if self.left else ()
        up = (self.right.left_device,) if self.right else ()
        return (*down, *up)


def sysctls(node: Node) -> dict[str, str]:
    """What a host's network namespace has other than a new one."""
    found = dict(_IPV6_OFF)
    if node.downstream:
        control = node.downstream.tcp_congestion_control
        found |= _TCP_SYSCTLS | {"net.ipv4.tcp_congestion_control": str(control)}
    return found | ({"net.ipv4.ip_forward": "1"} if node.forwards else {})


def addressing(place: HostPlace) -> tuple[IpValue, ...]:
    """A host's addresses and its routes."""
    return (
        *(_end(place.left, 2) if place.left else ()),
        *(_end(place.right, 1) if place.right else ()),
        *_new_neighbour(place.left),
        *_upward_routes(place),
        *_downward_routes(place),
        *_interception(place),
    )


def counters(place: HostPlace) -> Iterator[CableCounter]:
    """What counts packets sent into cables."""
    left, right = place.left, place.right
    if left and left in place.cables:
        yield CableCounter(left.right_device)
    if right and right in place.cables:
        yield CableCounter(right.left_device)


def _end(wire: Wire, side: int) -> tuple[IpValue, ...]:
    device = wire.left_device if side == 1 else wire.right_device
    other = 3 - side
    return (
        Address(wire.address(side), device),
        Up(device),
        Neighbour(wire.address(other), wire.mac(other), device),
    )


def _new_neighbour(wire: Wire | None) -> tuple[IpValue, ...]:
    """The client's first router knows the address that the client may change to."""
    if wire is None or wire.number > 0:
        return ()
    return (Neighbour(migrated_address(wire.address(1)), wire.mac(1), wire.right_device),)


def migrated_address(address: str) -> str:
    """The address that a client changes to, in the same network."""
    return f"{address}1"


def _upward_routes(place: HostPlace) -> Iterator[Route]:
    """Routes to all networks between the next neighbour and the server."""
    wire = place.right
    if wire is None:
        return
    plain = _route_of(place.node, place.node.upstream)
    beyond = [one.network for one in place.wires[wire.number + 1 :]]
    for network in (*beyond, ORIGINS_NETWORK):
        yield replace(plain, network=network, via=wire.address(2))
    yield from _to_neighbour(place, wire, 1, plain)


def _downward_routes(place: HostPlace) -> Iterator[Route]:
    """Routes to all networks between the neighbour before and the client."""
    wire = place.left
    if wire is None:
        return
    plain = _route_of(place.node, place.node.downstream)
    for one in place.wires[: wire.number]:
        yield replace(plain, network=one.network, via=wire.address(1))
    yield from _to_neighbour(place, wire, 2, plain)


def _to_neighbour(place: HostPlace, wire: Wire, side: int, plain: Route) -> Iterator[Route]:
    """The route to a host at the other end of a cable, if its connections need more than that."""
    if wire not in place.cables or plain == Route(""):
        return
    device = wire.left_device if side == 1 else wire.right_device
    source = wire.address(side)
    yield replace(plain, network=wire.network, device=device, source=source, replaces=True)


def _route_of(node: Node, host: Host | None) -> Route:
    """A route to nowhere yet: what the host's TCP does differently on one side."""
    if host is None or node.downstream is None:
        return Route("")
    own, usual = host.tcp_congestion_control, node.downstream.tcp_congestion_control
    return Route(
        "",
        initial_window=host.initial_window.tcp or None,
        congestion_control=str(own) if own != usual else None,
    )


def _interception(place: HostPlace) -> tuple[IpValue, ...]:
    """Rules that deliver TCP connections to a program of the host, whatever their addresses are.

    Routing decides here, and no packet filter: a rule names the side and the port, so that what
    answers on connections that the program opened with the client's address comes back to it, too.
    """
    port, table = place.node.intercepts, _INTERCEPTION_TABLE
    if port is None:
        return ()
    from_client, from_server = place.devices
    return (
        Route("default", device="lo", table=table, local=True),
        RoutingRule(from_client, table, port),
        RoutingRule(from_server, table, port, answers=True),
    )
