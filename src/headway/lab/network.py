"""From hosts and the paths between them to a network inside the lab.

Topology of a path with n links, each link between two router namespaces::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

A proxy is one more host between two paths; links are counted from the client on.

Towards the server, a packet meets on link0: the named drops and the queue with the rate when
link0a sends to link0b, then delay, jitter and loss when link0b sends onward; towards the client
the mirror image. Rate and loss never sit on an end host's own interface, where the sender's
socket would feel back-pressure.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headway.guest.orders import Change, Namespace, TraceLink
from headway.lab.direction import (
    Bottleneck,
    Way,
    changes,
    is_traced,
    queueing,
    trace_links,
)
from headway.programs.base import CLIENT, SERVER
from headway.study.model import Host
from headway.study.path import (
    Link,
    Path,
)
from headway.study.units import Duration

_LONGEST_DEVICE_QUEUE = 32767
"""What the kernel accepts; packets wait there only until the trace link's process takes them."""

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
GLOBAL_SYSCTLS = {
    "net.core.rmem_max": "67108864",
    "net.core.wmem_max": "67108864",
    "net.core.rmem_default": "8388608",
    "net.core.wmem_default": "8388608",
    "net.ipv4.tcp_mem": "131072 262144 524288",
    "net.ipv4.tcp_allowed_congestion_control": "reno cubic bbr hybla vegas westwood illinois dctcp",
}


@dataclass(frozen=True)
class Wire:
    """A veth pair between two neighbours, the left one nearer to the client."""

    number: int
    left: str
    right: str

    @property
    def left_device(self) -> str:
        """Device in the left namespace, towards the server."""
        return f"{self.left}-up"

    @property
    def right_device(self) -> str:
        """Device in the right namespace, towards the client."""
        return f"{self.right}-down"

    def address(self, side: int) -> str:
        """IPv4 address of the left (1) or right (2) end."""
        return f"10.0.{self.number}.{side}"

    @property
    def network(self) -> str:
        """The wire's IPv4 network."""
        return f"10.0.{self.number}.0/24"

    def mac(self, side: int) -> str:
        """Fixed hardware address of the left (1) or right (2) end."""
        return f"02:00:00:00:{self.number:02x}:{side:02x}"

    def creation(self) -> str:
        """The `ip` command that makes the pair."""
        return (
            f"link add {self.left_device} netns {self.left} address {self.mac(1)} type veth "
            f"peer name {self.right_device} netns {self.right} address {self.mac(2)}"
        )


@dataclass(frozen=True)
class Station:
    """A host in its place: the name of its namespace, and its TCP."""

    name: str
    host: Host


@dataclass(frozen=True)
class Leg:
    """A path between two neighbouring hosts, laid out: its wires and its bottlenecks.

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
    legs: tuple[Leg, ...]


def build_network(
    stations: Sequence[Station],
    paths: Sequence[Path],
    seed: int,
    until: Duration,
    *,
    offload: bool = False,
) -> Network:
    """Lay out paths between hosts.

    Args:
        stations: the hosts, the client first.
        paths: the paths between neighbours, one fewer.
        seed: seed of all random draws on the paths; each direction gets its own stream.
        until: changes of the paths are planned up to this time of the workload.
        offload: whether packets of up to 64 kB cross the path whole.
    """
    names, first_wires = _names(stations, paths)
    wires = [Wire(i, a, b) for i, (a, b) in enumerate(itertools.pairwise(names))]
    legs, ways = [], []
    for path, first in zip(paths, first_wires, strict=True):
        leg_wires = wires[first : first + 2 * len(path.links) + 1]
        leg_ways = [
            way
            for i, link in enumerate(path.links)
            for way in _ways(link, path.rtt, seed, until, leg_wires[2 * i : 2 * i + 3])
        ]
        legs.append(_leg(leg_wires, leg_ways))
        ways += leg_ways
    hosts = {station.name: station.host for station in stations}
    return Network(
        ip=tuple(wire.creation() for wire in wires),
        namespaces=tuple(
            replace(_namespace(name, wires, ways, hosts.get(name)), offload=offload)
            for name in names
        ),
        changes=tuple(sorted((c for way in ways for c in changes(way)), key=lambda c: c.at_ns)),
        trace_links=tuple(link for way in ways for link in trace_links(way)),
        legs=tuple(legs),
    )


def two_hosts(path: Path, client: Host, server: Host, seed: int, until: Duration) -> Network:
    """Lay out a path between a client and a server; see `build_network`."""
    return build_network((Station(CLIENT, client), Station(SERVER, server)), (path,), seed, until)


def _names(stations: Sequence[Station], paths: Sequence[Path]) -> tuple[list[str], list[int]]:
    """Namespaces from the client to the server, and the number of each path's first wire."""
    names, first_wires, link = [stations[0].name], [], 0
    for station, path in zip(stations[1:], paths, strict=True):
        first_wires.append(len(names) - 1)
        for _ in path.links:
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


def _ways(link: Link, rtt: Duration, seed: int, until: Duration, wires: list[Wire]) -> list[Way]:
    before, inner, after = wires
    name = inner.left.removesuffix("a")
    up = Bottleneck(inner.left, inner.left_device, after.left, after.left_device)
    down = Bottleneck(inner.right, inner.right_device, before.right, before.right_device)
    return [
        Way(f"{name}-up", link.up, rtt, seed, until, up),
        Way(f"{name}-down", link.down, rtt, seed, until, down),
    ]


def _namespace(name: str, wires: list[Wire], ways: list[Way], host: Host | None) -> Namespace:
    left = next((wire for wire in wires if wire.right == name), None)
    right = next((wire for wire in wires if wire.left == name), None)
    here = [way for way in ways if name in (way.place.queue_namespace, way.place.loss_namespace)]
    tc = [line for way in here for line in queueing(way, name)]
    tuns = [way for way in here if is_traced(way) and way.place.queue_namespace == name]
    return Namespace(
        name=name,
        sysctls=_IPV6_OFF | (_host_sysctls(host) if host else {"net.ipv4.ip_forward": "1"}),
        devices=tuple(
            device for device in (left and left.right_device, right and right.left_device) if device
        ),
        ip=(
            *(_ends(left, 2) if left else ()),
            *(_ends(right, 1) if right else ()),
            *_new_neighbour(left),
            *_routes(name, wires, host),
            *(line for way in tuns for line in _detour(way, wires)),
        ),
        tc=tuple(tc),
        nft="".join(_named_drops(way, wires) for way in here if way.place.queue_namespace == name),
    )


def _host_sysctls(host: Host) -> dict[str, str]:
    return _TCP_SYSCTLS | {"net.ipv4.tcp_congestion_control": str(host.congestion_control)}


def _ends(wire: Wire, side: int) -> tuple[str, ...]:
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


def _routes(name: str, wires: list[Wire], host: Host | None) -> tuple[str, ...]:
    """Routes to all networks that are not the namespace's own."""
    position = next((i for i, wire in enumerate(wires) if wire.left == name), len(wires))
    window = f" initcwnd {host.initial_window}" if host and host.initial_window else ""
    routes = []
    if position + 1 < len(wires):
        via = wires[position].address(2)
        routes += [f"route add {w.network} via {via}{window}" for w in wires[position + 1 :]]
    if position > 1:
        via = wires[position - 1].address(1)
        routes += [f"route add {w.network} via {via}{window}" for w in wires[: position - 1]]
    return tuple(routes)


def _detour(way: Way, wires: list[Wire]) -> list[str]:
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


def _named_drops(way: Way, wires: list[Wire]) -> str:
    """An nftables table that drops packets by their number on arrival, before the queue."""
    if not way.direction.drop_packets:
        return ""
    wire = next(w for w in wires if way.place.queue_device in (w.left_device, w.right_device))
    upward = way.place.queue_device == wire.left_device
    arriving = wires[wire.number - 1].right_device if upward else wires[wire.number + 1].left_device
    # numgen counts from 0 and the set holds the counts of the packets to drop.
    counts = ", ".join(str(number - 1) for number in sorted(set(way.direction.drop_packets)))
    return (
        f"table netdev {'up' if upward else 'down'} {{ chain drops {{\n"
        f'type filter hook ingress device "{arriving}" priority 0;\n'
        f"numgen inc mod 2147483647 {{ {counts} }} counter drop\n}}\n}}\n"
    )
