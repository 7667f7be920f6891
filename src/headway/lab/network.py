"""From a deployment's hosts, and what lies between them, to a network inside the lab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.guest.orders import Change, Counted, Namespace, TraceLink
from headway.lab.addressing import Place, addressing, counters, creation, sysctls
from headway.lab.direction import LinkWay, changes, is_traced, queueing, trace_links
from headway.planning.topology import Leg, Node, Wire, lay_out
from headway.programs.base import CLIENT, SERVER
from headway.study.host import Host
from headway.study.path import Path, Way
from headway.study.units import Duration

_LONGEST_DEVICE_QUEUE = 32767
"""What the kernel accepts; packets wait there only until the trace link's process takes them."""

GLOBAL_SYSCTLS = {
    "net.core.rmem_max": "67108864",
    "net.core.wmem_max": "67108864",
    "net.core.rmem_default": "8388608",
    "net.core.wmem_default": "8388608",
    "net.ipv4.tcp_mem": "131072 262144 524288",
    "net.ipv4.tcp_allowed_congestion_control": "reno cubic bbr hybla vegas westwood illinois dctcp",
}


@dataclass(frozen=True)
class Network:
    """Everything the guest needs to make the paths, and where to look at them."""

    ip: tuple[str, ...]
    namespaces: tuple[Namespace, ...]
    changes: tuple[Change, ...]
    trace_links: tuple[TraceLink, ...]
    counted: tuple[Counted, ...]

    @property
    def renewal(self) -> dict[str, tuple[str, ...]]:
        """What makes its queueing disciplines anew, by namespace, in a lab that has such a network."""
        return {
            namespace.name: (*_removal(namespace.tc), *namespace.tc)
            for namespace in self.namespaces
            if namespace.tc
        }


def build_network(
    nodes: Sequence[Node],
    legs: Sequence[Leg],
    seed: int,
    until: Duration,
    *,
    offload: bool = False,
) -> Network:
    """Lay out what is between hosts.

    Args:
        nodes: the hosts.
        legs: what lies between neighbours, from the client on.
        seed: seed of all random draws on the paths; each direction gets its own stream.
        until: changes of the paths are planned up to this time of the workload.
        offload: whether packets of up to 64 kB cross the path whole.
    """
    wires = tuple(wire for leg in legs for wire in leg.wires)
    cables = [leg.wires[0] for leg in legs if leg.path is None]
    ways = [way for leg in legs for way in _ways(leg, seed, until)]
    hosts = {node.name: node for node in nodes}
    names = (legs[0].left, *(wire.right for wire in wires))
    places = [
        Place(hosts.get(name) or Node.router(name), wires, frozenset(cables)) for name in names
    ]
    return Network(
        ip=tuple(creation(wire) for wire in wires),
        namespaces=tuple(replace(_namespace(place, ways), offload=offload) for place in places),
        changes=tuple(sorted((c for way in ways for c in changes(way)), key=lambda c: c.at_ns)),
        trace_links=tuple(link for way in ways for link in trace_links(way)),
        counted=(*map(_counted, ways), *(one for wire in cables for one in _counted_cable(wire))),
    )


def two_hosts(
    path: Path, client: Host, server: Host, seed: int, until: Duration
) -> tuple[Network, Leg]:
    """Lay out a path between a client and a server; see `build_network`."""
    (leg,) = lay_out((CLIENT, SERVER), (path,))
    ends = (Node.end(CLIENT, client), Node.end(SERVER, server))
    return build_network(ends, (leg,), seed, until), leg


def _ways(leg: Leg, seed: int, until: Duration) -> Iterator[LinkWay]:
    for link, place in leg.links:
        rtt = leg.path.rtt if leg.path else Duration(0)
        yield LinkWay(Way.UP, link.up, rtt, seed, until, place)
        yield LinkWay(Way.DOWN, link.down, rtt, seed, until, place)


def _counted(way: LinkWay) -> Counted:
    place = way.devices
    return Counted(
        name=place.queue_device,
        namespace=place.queue_namespace,
        line=place.loss_device,
        line_namespace=place.loss_namespace,
        named_drops=_drop_table(way) if way.direction.drop_packets else "",
        trace=way.name if is_traced(way) else "",
    )


def _counted_cable(wire: Wire) -> Iterator[Counted]:
    for name, device in ((wire.right, wire.right_device), (wire.left, wire.left_device)):
        yield Counted(device, name, device, name)


def _drop_table(way: LinkWay) -> str:
    """Name of the nftables table with a direction's named drops."""
    return str(way.way)


def _namespace(place: Place, ways: Sequence[LinkWay]) -> Namespace:
    name = place.node.name
    queued = [way for way in ways if way.devices.queue_namespace == name]
    here = [way for way in ways if way in queued or way.devices.loss_namespace == name]
    return Namespace(
        name=name,
        sysctls=sysctls(place.node),
        devices=place.devices,
        ip=(
            *addressing(place),
            *(line for way in queued if is_traced(way) for line in _detour(way)),
        ),
        tc=(*(line for way in here for line in queueing(way, name)), *counters(place)),
        nft="".join(_named_drops(way) for way in queued if way.direction.drop_packets),
    )


def _detour(way: LinkWay) -> list[str]:
    """Routes that lead a traced direction's packets through its TUN device once."""
    table = 100 if way.way is Way.UP else 101
    tun = f"{way.name}-tun"
    return [
        f"tuntap add dev {tun} mode tun",
        f"link set {tun} txqueuelen {_LONGEST_DEVICE_QUEUE} up",
        f"route add default dev {tun} table {table}",
        f"rule add iif {way.place.arriving(way.way)} table {table}",
    ]


def _named_drops(way: LinkWay) -> str:
    """An nftables table that drops packets by their number on arrival, before the queue."""
    # numgen counts from 0 and the set holds the counts of the packets to drop.
    counts = ", ".join(str(number - 1) for number in sorted(set(way.direction.drop_packets)))
    return (
        f"table netdev {_drop_table(way)} {{ chain drops {{\n"
        f'type filter hook ingress device "{way.place.arriving(way.way)}" priority 0;\n'
        f"numgen inc mod 2147483647 {{ {counts} }} counter drop\n}}\n}}\n"
    )


def _removal(tc: tuple[str, ...]) -> list[str]:
    words = [line.split() for line in tc]
    devices = [line[3] for line in words if line[:3] == ["qdisc", "add", "dev"] and "root" in line]
    return [f"qdisc del dev {device} root" for device in devices]
