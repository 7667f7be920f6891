"""A host's devices, addresses and routes, and the TCP that it has towards each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.lab.silent_hosts import quiet, quiet_sysctls
from headway.lab.values import (
    Address,
    CableCounter,
    HostQueue,
    IpValue,
    Neighbour,
    OnePacket,
    Route,
    RoutingRule,
    SourceRule,
    Up,
)
from headway.planning.routing import Port
from headway.planning.topology import Node, Wire
from headway.study.family import Family
from headway.study.host import Host
from headway.study.kernel import HostDiscipline

_INTERCEPTION_TABLE = 102
"""Routing table of hosts that intercept TCP connections."""
_SECOND_TABLE = 103
"""Routing table of clients for what they send from their second interface."""

_FORWARDING = {
    Family.IPV4: {"net.ipv4.ip_forward": "1"},
    # Not `forwarding`: who has that joins the groups of routers, and reports it.
    Family.IPV6: {
        "net.ipv6.conf.all.force_forwarding": "1",
        # Of devices that come later: those that keep the opportunities of a trace.
        "net.ipv6.conf.default.force_forwarding": "1",
    },
}
_ACCURATE_ECN = {"net.ipv4.tcp_ecn": "3"}
"""Asks for it on connections that the host opens, and takes it on those that it accepts."""
_METRIC_OF_A_DEVICE = {Family.IPV6: 256}
"""Of the route to a wire's network that comes with an address, where another one does not replace it anyway."""

TCP_SYSCTLS = {
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
    """Where a host is.

    Attributes:
        node: the host.
        ports: those towards clients first.
        cables: the wires that are cables.
        client_wire: the first client's, seen from there; its address may change.
        accurate_ecn: whether its TCP offers Accurate ECN.
    """

    node: Node
    ports: tuple[Port, ...]
    cables: frozenset[Wire]
    client_wire: Wire
    accurate_ecn: bool = False

    @property
    def devices(self) -> tuple[str, ...]:
        """Its devices, those towards clients first."""
        return tuple(port.device for port in self.ports)

    @property
    def family(self) -> Family:
        """Of its addresses, or of the first of both."""
        return self.ports[0].wire.family

    @property
    def families(self) -> tuple[Family, ...]:
        """Of its addresses."""
        return tuple(dict.fromkeys(port.wire.family for port in self.ports))

    @property
    def quiet_family(self) -> Family:
        """That which its devices have to be kept quiet for."""
        return Family.IPV6 if Family.IPV6 in self.families else Family.IPV4


def sysctls(place: HostPlace) -> dict[str, str]:
    """What a host's network namespace has other than a new one."""
    node, texts = place.node, quiet_sysctls(place.quiet_family)
    if node.downstream:
        control = node.downstream.tcp_congestion_control
        texts |= TCP_SYSCTLS | {"net.ipv4.tcp_congestion_control": str(control)}
    texts |= _ACCURATE_ECN if place.accurate_ecn else {}
    texts |= _FORWARDING[place.family] if node.forwards else {}
    texts |= node.kernel.processor.sysctls if node.kernel.processor else {}
    return texts | dict(_asked(place))


def _asked(place: HostPlace) -> Iterator[tuple[str, str]]:
    """What its profile and the study set; as devices are there before, also of each of them."""
    for name, value in place.node.kernel.all_sysctls.items():
        yield name, value
        before, default, after = name.partition(".conf.default.")
        if default:
            yield from ((f"{before}.conf.{device}.{after}", value) for device in place.devices)


def addressing(place: HostPlace) -> tuple[IpValue, ...]:
    """A host's addresses and its routes."""
    return (
        *(command for port in place.ports for command in _end(port, place.quiet_family)),
        *(() if place.node.kernel.segments_late else map(OnePacket, place.devices)),
        *_new_neighbour(place),
        *_routes(place),
        *_second_routes(place),
        *_interception(place),
        *(Address(address, "lo", alone=True) for address in place.node.more_addresses),
    )


def device_queues(place: HostPlace) -> Iterator[HostQueue | CableCounter]:
    """What holds packets that a host sends; else what counts those that it sends into cables."""
    discipline = place.node.kernel.discipline
    for port in place.ports:
        if discipline is not HostDiscipline.NOQUEUE:
            yield HostQueue(port.device, discipline)
        elif port.wire in place.cables:
            yield CableCounter(port.device)


def _end(port: Port, quiet_family: Family) -> tuple[IpValue, ...]:
    wire, other = port.wire, port.other
    return (
        *quiet(quiet_family, port.device),
        Address(port.address, port.device),
        Up(port.device),
        Neighbour(wire.address(other), wire.mac(other), port.device),
    )


def _new_neighbour(place: HostPlace) -> Iterator[Neighbour]:
    """The client's neighbour knows the address that the client may change to."""
    for port in place.ports:
        if (
            port.wire.number == place.client_wire.number
            and place.node.name != place.client_wire.left
        ):
            changed = port.wire.address(port.other).migrated
            yield Neighbour(changed, port.wire.mac(port.other), port.device)


def _routes(place: HostPlace) -> Iterator[Route]:
    """Routes to all networks of the lab: one to where most of them are, towards servers if in doubt, and the others.

    There is no default route: other addresses are unreachable at once. Of both families, those of IPv6 have one, without
    which Chromium would ask for no address of it.
    """
    for family in place.families:
        ports = [port for port in place.ports if port.wire.tree == (family, False)]
        yield from _routes_of(ports, place) if ports else ()


def _second_routes(place: HostPlace) -> Iterator[IpValue]:
    """Those of the way from a client's second interface: its routers know no other way to the server.

    The client takes it for what has that interface's address. The server answers there by the wires' own networks.
    """
    is_end = any(not port.wire.second for port in place.ports)
    for port in place.ports:
        if not port.wire.second:
            continue
        node, via = place.node, port.wire.address(port.other)
        plain = _route_of(node, node.towards(port.device))
        if not port.upward:
            yield from (replace(plain, network=text, via=via) for text in port.beyond)
        elif is_end:
            yield SourceRule(port.address, _SECOND_TABLE)
            network = port.wire.wires_network
            yield replace(plain, network=network, via=via, table=_SECOND_TABLE)
        else:
            yield replace(plain, network=port.wire.wires_network, via=via)


def _routes_of(ports: Sequence[Port], place: HostPlace) -> Iterator[Route]:
    """Those of a family."""
    usual = max(ports, key=lambda port: (len(port.beyond), port.upward))
    for port in ports:
        node = place.node
        plain = _route_of(node, node.towards(port.device))
        via = port.wire.address(port.other)
        stands_for_all = port is usual and port.beyond and not port.chosen
        wires = (port.wire.wires_network,) if stands_for_all else port.beyond
        stated = (address.alone for address in port.stated)
        for network in (*wires, *port.origins, *stated):
            yield replace(plain, network=network, via=via)
        if port.wire in place.cables and plain != Route(""):
            # To the neighbour itself, if its connections need more than what comes with the address.
            yield replace(
                plain,
                network=port.wire.network,
                device=port.device,
                source=port.address,
                metric=_METRIC_OF_A_DEVICE.get(port.wire.family),
                replaces=True,
            )


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
    sides = sorted((device not in place.node.client_devices, device) for device in place.devices)
    return (
        Route(place.family.everywhere, device="lo", table=table, local=True),
        *(
            RoutingRule(device, table, place.family, port, answers=is_from_server)
            for is_from_server, device in sides
        ),
    )
