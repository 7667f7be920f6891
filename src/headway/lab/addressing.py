"""A host's devices, addresses and routes, and the TCP that it has towards each side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from headway.planning.topology import Node, Wire
from headway.study.host import Host

_INTERCEPTION_TABLE = 102
"""Routing table of hosts that intercept TCP connections."""
ORIGINS_NETWORK = "10.200.0.0/16"
"""Addresses that the server's host may have beside its own."""
_COUNTER = "root handle 1: pfifo limit 1000000"
"""A queue that is never full."""

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


def creation(wire: Wire) -> str:
    """The `ip` command that makes a pair."""
    return (
        f"link add {wire.left_device} netns {wire.left} address {wire.mac(1)} type veth "
        f"peer name {wire.right_device} netns {wire.right} address {wire.mac(2)}"
    )


@dataclass(frozen=True)
class Place:
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


def addressing(place: Place) -> tuple[str, ...]:
    """The `ip` commands that give a host its addresses and its routes."""
    return (
        *(_end(place.left, 2) if place.left else ()),
        *(_end(place.right, 1) if place.right else ()),
        *_new_neighbour(place.left),
        *_upward_routes(place),
        *_downward_routes(place),
        *_interception(place),
    )


def counters(place: Place) -> Iterator[str]:
    """The `tc` commands for what counts packets sent into cables; it holds none back."""
    left, right = place.left, place.right
    if left and left in place.cables:
        yield f"qdisc add dev {left.right_device} {_COUNTER}"
    if right and right in place.cables:
        yield f"qdisc add dev {right.left_device} {_COUNTER}"


def _end(wire: Wire, side: int) -> tuple[str, ...]:
    device = wire.left_device if side == 1 else wire.right_device
    other = 3 - side
    return (
        f"addr add {wire.address(side)}/24 dev {device}",
        f"link set {device} up",
        # Permanent neighbours: an ARP exchange would consume draws of the loss sequence.
        f"neigh add {wire.address(other)} lladdr {wire.mac(other)} dev {device} nud permanent",
    )


def _new_neighbour(wire: Wire | None) -> tuple[str, ...]:
    """The client's first router knows the address that the client may change to."""
    if wire is None or wire.number > 0:
        return ()
    device, new = wire.right_device, migrated_address(wire.address(1))
    return (f"neigh add {new} lladdr {wire.mac(1)} dev {device} nud permanent",)


def migrated_address(address: str) -> str:
    """The address that a client changes to, in the same network."""
    return f"{address}1"


def _upward_routes(place: Place) -> list[str]:
    """Routes to all networks between the next neighbour and the server."""
    wire, of_side = place.right, _tcp(place.node.upstream, place.node)
    if wire is None:
        return []
    beyond = [one.network for one in place.wires[wire.number + 1 :]]
    networks = (*beyond, ORIGINS_NETWORK)
    routes = [f"route add {one} via {wire.address(2)}{of_side}" for one in networks]
    return routes + _to_neighbour(place, wire, 1, of_side)


def _downward_routes(place: Place) -> list[str]:
    """Routes to all networks between the neighbour before and the client."""
    wire, of_side = place.left, _tcp(place.node.downstream, place.node)
    if wire is None:
        return []
    beyond = place.wires[: wire.number]
    routes = [f"route add {one.network} via {wire.address(1)}{of_side}" for one in beyond]
    return routes + _to_neighbour(place, wire, 2, of_side)


def _to_neighbour(place: Place, wire: Wire, side: int, of_side: str) -> list[str]:
    """The route to a host at the other end of a cable, if its connections need more than that."""
    if wire not in place.cables or not of_side:
        return []
    device = wire.left_device if side == 1 else wire.right_device
    return [f"route replace {wire.network} dev {device} src {wire.address(side)}{of_side}"]


def _tcp(host: Host | None, node: Node) -> str:
    """Attributes of the routes to one side: what the station's TCP does differently there."""
    if host is None or node.downstream is None:
        return ""
    window = f" initcwnd {host.initial_window.tcp}" if host.initial_window.tcp else ""
    own, usual = host.tcp_congestion_control, node.downstream.tcp_congestion_control
    return window + (f" congctl {own}" if own != usual else "")


def _interception(place: Place) -> tuple[str, ...]:
    """Rules that deliver TCP connections to a program of the host, whatever their addresses are.

    Routing decides here, and no packet filter: a rule names the side and the port, so that what
    answers on connections that the program opened with the client's address comes back to it, too.
    """
    port, table = place.node.intercepts, _INTERCEPTION_TABLE
    if port is None:
        return ()
    from_client, from_server = place.devices
    return (
        f"route add local default dev lo table {table}",
        f"rule add iif {from_client} ipproto tcp dport {port} table {table}",
        f"rule add iif {from_server} ipproto tcp sport {port} table {table}",
    )
