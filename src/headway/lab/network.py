"""From a deployment's hosts, and what lies between them, to a network inside the lab."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from headway.contract.carrier import CarrierLink
from headway.contract.counts import Counted
from headway.contract.faults import FaultLink
from headway.contract.orders import Change, Namespace, TraceLink
from headway.lab.addressing import TCP_SYSCTLS, HostPlace, addressing, device_queues, sysctls
from headway.lab.commands import (
    additions,
    alteration,
    ip_line,
    nft_table,
    pair,
    rebinding,
    renewal,
    turned,
)
from headway.lab.contactways import changed_hops, first_hops
from headway.lab.direction import (
    LinkWay,
    carrier_links,
    changes,
    detour,
    ecn_namespace,
    ecn_rules,
    fault_links,
    has_process,
    named_drops,
    packet_filters,
    passing_on,
    policing,
    shaping,
    trace_links,
    udp_rules,
    with_mtu,
)
from headway.lab.nat import has_nat, known_beyond, mapper, nat_sysctls, rebindings
from headway.lab.values import (
    DelayLine,
    IpValue,
    NewMappings,
    PacketFilter,
    Route,
    Shaping,
    TimedChange,
    Turn,
)
from headway.planning.accurate_ecn import hosts_with_accurate_ecn
from headway.planning.routing import StatedHop, ports, stated_hops
from headway.planning.topology import Leg, Node, Wire, lay_out
from headway.study.controllers import OF_THE_KERNEL
from headway.study.edge import Edge
from headway.study.family import Family
from headway.study.fault import Fault
from headway.study.host import Host
from headway.study.kernel import Kernel
from headway.study.network import CLIENT, SERVER
from headway.study.path import Path, Way
from headway.study.units import Duration

if TYPE_CHECKING:  # A command without a study has none.
    from headway.planning.deployment import DeployedFlow, Deployment

GLOBAL_SYSCTLS = {
    "net.core.rmem_max": "67108864",
    "net.core.wmem_max": "67108864",
    "net.core.rmem_default": "8388608",
    "net.core.wmem_default": "8388608",
    "net.ipv4.tcp_mem": "131072 262144 524288",
    "net.ipv4.tcp_allowed_congestion_control": " ".join(OF_THE_KERNEL),
}


@dataclass(frozen=True)
class HostLayout:
    """A host or router, laid out.

    Attributes:
        name: of its namespace.
        sysctls: of its namespace that differ from a new one's.
        gro_flush_ns: how long received packets wait for others; None if none does.
        devices: its devices, that towards the client first.
        ip: its addresses, routes and rules.
        shaping: its queueing disciplines.
        filters: what packets it drops.
    """

    name: str
    sysctls: dict[str, str]
    gro_flush_ns: int | None
    devices: tuple[str, ...]
    ip: tuple[IpValue, ...]
    shaping: tuple[Shaping, ...]
    filters: tuple[PacketFilter, ...]


@dataclass(frozen=True)
class NetworkLayout:
    """Hosts and what is between them, laid out.

    Attributes:
        wires: the veth pairs.
        hosts: hosts and routers, from the client on.
        timed: what changes in the course of the workload, in order.
        trace_links: directions that have a trace.
        carrier_links: directions whose packets are sent in frames.
        fault_links: directions to whose packets something may happen.
        counted: where packets are counted.
        offload: whether packets of up to 64 kB cross it whole.
    """

    wires: tuple[Wire, ...]
    hosts: tuple[HostLayout, ...]
    timed: tuple[TimedChange, ...]
    trace_links: tuple[TraceLink, ...]
    carrier_links: tuple[CarrierLink, ...]
    fault_links: tuple[FaultLink, ...]
    counted: tuple[Counted, ...]
    offload: bool

    @property
    def ip(self) -> tuple[str, ...]:
        """What makes the veth pairs."""
        return tuple(pair(wire) for wire in self.wires)

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """What makes the hosts."""
        return tuple(
            Namespace(
                name=host.name,
                sysctls=host.sysctls,
                devices=host.devices,
                offload=self.offload,
                ip=tuple(map(ip_line, host.ip)),
                tc=additions(host.shaping),
                nft="".join(map(nft_table, dict.fromkeys(host.filters))),
                gro_flush_ns=host.gro_flush_ns,
            )
            for host in self.hosts
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(map(_change, self.timed))

    @property
    def renewal(self) -> dict[str, tuple[str, ...]]:
        """What makes its queueing disciplines anew, by namespace, in a lab that has such a network."""
        return {host.name: renewal(host.shaping) for host in self.hosts if host.shaping}


def _change(timed: TimedChange) -> Change:
    what = timed.what
    if isinstance(what, Route):
        return Change(timed.at, timed.namespace, "", ip_lines=(ip_line(what),))
    if isinstance(what, Turn):
        tc, nft = turned(what)
        return Change(timed.at, timed.namespace, tc, nft_rules=nft)
    if isinstance(what, NewMappings):
        ip, nft = rebinding(what)
        return Change(timed.at, timed.namespace, "", nft_rules=nft, ip_lines=ip)
    black = isinstance(what, DelayLine) and what.black
    return Change(timed.at, timed.namespace, alteration(what), timed.line, blackout=black)


def layout_of(deployment: Deployment) -> NetworkLayout:
    """Lay out a deployment's hosts, and what lies between them."""
    setting = deployment.setting
    return _laid_out(
        deployment.nodes,
        deployment.legs,
        deployment.flows[0].legs[0].wires[0],
        deployment.seed or 0,
        setting.limits.virtual,
        offload=setting.offload,
        fault=(setting.fault, deployment.flows[0].legs[0]) if setting.fault else None,
        stated=[hop for flow in deployment.flows for hop in stated_ways(flow)],
        turning=[change for flow in deployment.flows for change in changed_hops(flow)],
        followed={
            leg.wires[0].number
            for flow in deployment.flows
            for way in (flow.changing, flow.asking)
            if way
            for leg in way.legs.values()
        },
        accurate_ecn=hosts_with_accurate_ecn(deployment),
    )


def stated_ways(flow: DeployedFlow) -> Iterator[StatedHop]:
    """The way to each of a flow's programs that has an address, and back."""
    if flow.changing:
        return first_hops(flow)
    return stated_hops(flow.legs, dict.fromkeys(end.position for end in flow.endpoints))


def two_hosts(
    path: Path,
    client: Host,
    server: Host,
    seed: int,
    until: Duration,
    family: Family = Family.IPV4,
    *,
    fault: Fault | None = None,
) -> tuple[NetworkLayout, Leg]:
    """Lay out a path between a client and a server.

    Args:
        path: between them.
        client: its TCP.
        server: its TCP.
        seed: seed of all random draws on the path; each direction gets its own stream.
        until: changes of the path are planned up to this time of the workload.
        family: of their addresses.
        fault: what happens to a packet; with one, even if it is of no packet, packets are numbered and kept.
    """
    edge = Edge("0", CLIENT, SERVER, path, "path", family)
    (leg,) = lay_out([edge], [path])
    ends = (Node.end(CLIENT, client), Node.end(SERVER, server))
    met = (fault, leg) if fault else None
    return _laid_out(ends, (leg,), leg.wires[0], seed, until, offload=False, fault=met), leg


def _laid_out(
    nodes: Sequence[Node],
    legs: Sequence[Leg],
    client_wire: Wire,
    seed: int,
    until: Duration,
    *,
    offload: bool,
    fault: tuple[Fault, Leg] | None = None,
    stated: Iterable[StatedHop] = (),
    turning: Iterable[TimedChange] = (),
    followed: Collection[int] = (),
    accurate_ecn: frozenset[str] = frozenset(),
) -> NetworkLayout:
    wires = tuple(wire for leg in legs for wire in leg.wires)
    cables = [leg.wires[0] for leg in legs if leg.path is None]
    ways = [
        replace(way, passes=leg.wires[0].number in followed)
        for leg in legs
        for way in link_ways(leg, seed, until)
    ]
    if fault:
        ways = [_with_fault(way, *fault) for way in ways]
    hosts = {node.name: node for node in nodes}
    places = [
        HostPlace(
            hosts.get(name) or Node.router(name),
            around,
            frozenset(cables),
            client_wire,
            name in accurate_ecn,
        )
        for name, around in ports(wires, nodes, stated).items()
    ]
    laid_out = tuple(_host(place, ways) for place in places)
    routers = {host.name: host.ip for host in laid_out}
    timed = [*turning, *(change for way in ways for change in changes(way))]
    timed += [
        change for way in ways for change in rebindings(way, routers[way.devices.queue_namespace])
    ]
    return NetworkLayout(
        wires=wires,
        hosts=laid_out,
        timed=tuple(sorted(timed, key=lambda change: change.at)),
        trace_links=tuple(link for way in ways for link in trace_links(way)),
        carrier_links=tuple(link for way in ways for link in carrier_links(way)),
        fault_links=tuple(link for way in ways for link in fault_links(way)),
        counted=(
            *map(_counted, ways),
            *(counted for wire in cables for counted in _counted_cable(wire)),
        ),
        offload=offload,
    )


def _with_fault(way: LinkWay, fault: Fault, leg: Leg) -> LinkWay:
    """A way with the fault, if it is one of the link that the fault is of; the leg is as the client sees it."""
    inner = leg.links[fault.link - 1][1].inner
    if inner.number != way.place.inner.number:
        return way
    met = fault.turned_around if inner.turned else fault
    return replace(way, fault=met)


def host_settings(kernel: Kernel) -> dict[str, str]:
    """What the kernel of a host with connections is set to: sysctls by name, and its devices."""
    return {
        **GLOBAL_SYSCTLS,
        **TCP_SYSCTLS,
        **kernel.all_sysctls,
        "qdisc": str(kernel.discipline),
        "gso": "on" if kernel.segments_late else "off",
        "gro": "off" if kernel.gro_flush_ns is None else "on",
        "coalescing": str(kernel.coalescing),
    }


def link_ways(leg: Leg, seed: int, until: Duration) -> Iterator[LinkWay]:
    """Both directions of every link of a leg, for a run of a seed."""
    for link, place in leg.links:
        rtt = leg.path.rtt if leg.path else Duration(0)
        yield LinkWay(Way.UP, link.up, rtt, seed, until, place, nat=link.nat)
        yield LinkWay(Way.DOWN, link.down, rtt, seed, until, place, nat=link.nat)


def _counted(way: LinkWay) -> Counted:
    place = way.devices
    return Counted(
        name=place.queue_device,
        namespace=place.queue_namespace,
        line=place.loss_device,
        line_namespace=place.loss_namespace,
        named_drops=drops.table if (drops := named_drops(way)) else "",
        trace=way.name if way.direction.has_process else "",
        policed=policers.device if (policers := policing(way)) else "",
        udp_rules=rules.table if (rules := udp_rules(way)) else "",
        ecn_rules=changed.table if (changed := ecn_rules(way)) else "",
        ecn_namespace=ecn_namespace(way) if way.direction.ecn else "",
        has_mtu=way.direction.carries is not None,
        maps=has_nat(way),
        maps_back=way.nat is not None and not has_nat(way),
    )


def _counted_cable(wire: Wire) -> Iterator[Counted]:
    for name, device in ((wire.right, wire.right_device), (wire.left, wire.left_device)):
        yield Counted(device, name, device, name)


def _host(place: HostPlace, ways: Sequence[LinkWay]) -> HostLayout:
    name = place.node.name
    queued = [way for way in ways if way.devices.queue_namespace == name]
    nats = [way.nat for way in queued if way.nat and has_nat(way)]
    return HostLayout(
        name=name,
        sysctls=sysctls(place) | (nat_sysctls(nats[0]) if nats else {}),
        gro_flush_ns=place.node.kernel.gro_flush_ns,
        devices=place.devices,
        ip=(
            *(
                reduce(lambda made, way: with_mtu(way, made), queued, command)
                for command in addressing(place)
            ),
            *(command for way in ways for command in passing_on(way, name)),
            *(command for way in queued if has_process(way) for command in detour(way)),
            *(command for way in ways for command in known_beyond(way, name)),
        ),
        shaping=(*(shaper for way in ways for shaper in shaping(way, name)), *device_queues(place)),
        filters=(
            *(
                rules
                for way in ways
                if (rules := ecn_rules(way)) and ecn_namespace(way) == place.node.name
            ),
            *(packet_filter for way in queued for packet_filter in packet_filters(way)),
            *filter(None, map(mapper, queued)),
        ),
    )
