"""From hosts and the paths between them to a network inside the lab.

Topology of a path with n links, each link between two router namespaces::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

Every hop of a chain is one more host between two paths; links are counted from the client on.
Without a path between them, two hosts are neighbours, at both ends of a cable.

Towards the server, a packet meets on link0: the named drops and the queue with the rate when
link0a sends to link0b, then delay, jitter and loss when link0b sends onward; towards the client
the mirror image. Rate and loss never sit on an end host's own interface, where the sender's
socket would feel back-pressure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.guest.orders import Change, Counted, Namespace, TraceLink
from headway.lab.direction import (
    Bottleneck,
    Way,
    changes,
    is_traced,
    queueing,
    trace_links,
)
from headway.lab.station import Place, Station, Wire, addressing, counters, sysctls
from headway.programs.base import CLIENT, SERVER
from headway.study.host import Host
from headway.study.path import (
    Link,
    Path,
)
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
class Leg:
    """A path between two neighbouring hosts, laid out: its wires and its bottlenecks.

    Of a cable, the only places are the hosts' own devices, which count packets.

    Attributes:
        left: address of the host nearer to the client.
        right: address of the other host.
        down: where the counters of its links towards the client are, the client's link first.
        up: the same towards the server.
    """

    left: str
    right: str
    down: tuple[Bottleneck, ...]
    up: tuple[Bottleneck, ...]


@dataclass(frozen=True)
class Network:
    """Everything the guest needs to make the paths, and where to look at them."""

    ip: tuple[str, ...]
    namespaces: tuple[Namespace, ...]
    changes: tuple[Change, ...]
    trace_links: tuple[TraceLink, ...]
    counted: tuple[Counted, ...]
    legs: tuple[Leg, ...]

    @property
    def renewal(self) -> dict[str, tuple[str, ...]]:
        """What makes its queueing disciplines anew, by namespace, in a lab that has such a network."""
        return {
            namespace.name: (*_removal(namespace.tc), *namespace.tc)
            for namespace in self.namespaces
            if namespace.tc
        }


def build_network(
    stations: Sequence[Station],
    paths: Sequence[Path | None],
    seed: int,
    until: Duration,
    *,
    offload: bool = False,
) -> Network:
    """Lay out paths between hosts.

    Args:
        stations: the hosts, the client first.
        paths: the paths between neighbours, one fewer; None for a cable.
        seed: seed of all random draws on the paths; each direction gets its own stream.
        until: changes of the paths are planned up to this time of the workload.
        offload: whether packets of up to 64 kB cross the path whole.
    """
    names, first_wires = _names(stations, paths)
    wires = [Wire(i, a, b) for i, (a, b) in enumerate(itertools.pairwise(names))]
    legs, ways, cables = [], [], []
    for path, first in zip(paths, first_wires, strict=True):
        if path is None:
            cables.append(wires[first])
            legs.append(_cable(wires[first]))
            continue
        leg_wires = wires[first : first + 2 * len(path.links) + 1]
        leg_ways = [
            way
            for i, link in enumerate(path.links)
            for way in _ways(link, path.rtt, seed, until, leg_wires[2 * i : 2 * i + 3])
        ]
        legs.append(_leg(leg_wires, leg_ways))
        ways += leg_ways
    hosts = {station.name: station for station in stations}
    places = [
        Place(hosts.get(name, Station(name, forwards=True)), tuple(wires), frozenset(cables))
        for name in names
    ]
    return Network(
        ip=tuple(wire.creation() for wire in wires),
        namespaces=tuple(replace(_namespace(place, ways), offload=offload) for place in places),
        changes=tuple(sorted((c for way in ways for c in changes(way)), key=lambda c: c.at_ns)),
        trace_links=tuple(link for way in ways for link in trace_links(way)),
        counted=(*map(_counted, ways), *(one for wire in cables for one in _counted_cable(wire))),
        legs=tuple(legs),
    )


def two_hosts(path: Path, client: Host, server: Host, seed: int, until: Duration) -> Network:
    """Lay out a path between a client and a server; see `build_network`."""
    ends = (Station.end(CLIENT, client), Station.end(SERVER, server))
    return build_network(ends, (path,), seed, until)


def _names(
    stations: Sequence[Station], paths: Sequence[Path | None]
) -> tuple[list[str], list[int]]:
    """Namespaces from the client to the server, and the number of each path's first wire."""
    names, first_wires, link = [stations[0].name], [], 0
    for station, path in zip(stations[1:], paths, strict=True):
        first_wires.append(len(names) - 1)
        for _ in path.links if path else ():
            names += [f"link{link}a", f"link{link}b"]
            link += 1
        names.append(station.name)
    return names, first_wires


def _leg(wires: list[Wire], ways: list[Way]) -> Leg:
    return Leg(
        left=wires[0].address(1),
        right=wires[-1].address(2),
        down=tuple(way.place for way in ways if way.name.endswith("down")),
        up=tuple(way.place for way in ways if way.name.endswith("up")),
    )


def _cable(wire: Wire) -> Leg:
    down = Bottleneck(wire.right, wire.right_device, wire.right, wire.right_device)
    up = Bottleneck(wire.left, wire.left_device, wire.left, wire.left_device)
    return Leg(wire.address(1), wire.address(2), (down,), (up,))


def _ways(link: Link, rtt: Duration, seed: int, until: Duration, wires: list[Wire]) -> list[Way]:
    before, inner, after = wires
    name = inner.left.removesuffix("a")
    up = Bottleneck(inner.left, inner.left_device, after.left, after.left_device)
    down = Bottleneck(inner.right, inner.right_device, before.right, before.right_device)
    return [
        Way(f"{name}-up", link.up, rtt, seed, until, up),
        Way(f"{name}-down", link.down, rtt, seed, until, down),
    ]


def _counted(way: Way) -> Counted:
    place = way.place
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


def _drop_table(way: Way) -> str:
    """Name of the nftables table with a direction's named drops."""
    return way.name.rpartition("-")[2]


def _namespace(place: Place, ways: Sequence[Way]) -> Namespace:
    name = place.station.name
    here = [way for way in ways if name in (way.place.queue_namespace, way.place.loss_namespace)]
    tuns = [way for way in here if is_traced(way) and way.place.queue_namespace == name]
    return Namespace(
        name=name,
        sysctls=sysctls(place.station),
        devices=place.devices,
        ip=(*addressing(place), *(line for way in tuns for line in _detour(way, place.wires))),
        tc=(*(line for way in here for line in queueing(way, name)), *counters(place)),
        nft="".join(
            _named_drops(way, place.wires) for way in here if way.place.queue_namespace == name
        ),
    )


def _detour(way: Way, wires: Sequence[Wire]) -> list[str]:
    """Routes that lead a traced direction's packets through its TUN device once."""
    wire = next(w for w in wires if way.place.queue_device in (w.left_device, w.right_device))
    upward = way.place.queue_device == wire.left_device
    arriving = wires[wire.number - 1].right_device if upward else wires[wire.number + 1].left_device
    tun = f"{way.name}-tun"
    table = 100 if upward else 101
    return [
        f"tuntap add dev {tun} mode tun",
        f"link set {tun} txqueuelen {_LONGEST_DEVICE_QUEUE} up",
        f"route add default dev {tun} table {table}",
        f"rule add iif {arriving} table {table}",
    ]


def _named_drops(way: Way, wires: Sequence[Wire]) -> str:
    """An nftables table that drops packets by their number on arrival, before the queue."""
    if not way.direction.drop_packets:
        return ""
    wire = next(w for w in wires if way.place.queue_device in (w.left_device, w.right_device))
    upward = way.place.queue_device == wire.left_device
    arriving = wires[wire.number - 1].right_device if upward else wires[wire.number + 1].left_device
    # numgen counts from 0 and the set holds the counts of the packets to drop.
    counts = ", ".join(str(number - 1) for number in sorted(set(way.direction.drop_packets)))
    return (
        f"table netdev {_drop_table(way)} {{ chain drops {{\n"
        f'type filter hook ingress device "{arriving}" priority 0;\n'
        f"numgen inc mod 2147483647 {{ {counts} }} counter drop\n}}\n}}\n"
    )


def _removal(tc: tuple[str, ...]) -> list[str]:
    words = [line.split() for line in tc]
    devices = [line[3] for line in words if line[:3] == ["qdisc", "add", "dev"] and "root" in line]
    return [f"qdisc del dev {device} root" for device in devices]
