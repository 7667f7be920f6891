"""From a path to a network inside the lab: namespaces, addresses, queueing disciplines.

Topology of a path with n links, each link between two router namespaces::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

Towards the server, a packet meets on link0: the named drops and the queue with the rate when
link0a sends to link0b, then delay, jitter and loss when link0b sends onward; towards the client
the mirror image. Rate and loss never sit on an end host's own interface, where the sender's
socket would feel back-pressure.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

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
class Network:
    """Everything the guest needs to make the path, and where to look at it."""

    ip: tuple[str, ...]
    namespaces: tuple[Namespace, ...]
    changes: tuple[Change, ...]
    trace_links: tuple[TraceLink, ...]
    client_address: str
    server_address: str
    down: tuple[Bottleneck, ...]
    up: tuple[Bottleneck, ...]


def build_network(path: Path, client: Host, server: Host, seed: int, until: Duration) -> Network:
    """Lay out a path between two hosts.

    Args:
        path: the links.
        client: congestion control and initial window of the client's TCP.
        server: likewise.
        seed: seed of all random draws on the path; each direction gets its own stream.
        until: changes of the path are planned up to this time of the workload.
    """
    names = [CLIENT]
    for number in range(len(path.links)):
        names += [f"link{number}a", f"link{number}b"]
    names.append(SERVER)
    wires = [Wire(i, a, b) for i, (a, b) in enumerate(itertools.pairwise(names))]
    ways = [
        way
        for i, link in enumerate(path.links)
        for way in _ways(i, link, path.rtt, seed, until, wires)
    ]
    hosts = {CLIENT: client, SERVER: server}
    return Network(
        ip=tuple(wire.creation() for wire in wires),
        namespaces=tuple(_namespace(name, wires, ways, hosts.get(name)) for name in names),
        changes=tuple(sorted((c for way in ways for c in changes(way)), key=lambda c: c.at_ns)),
        trace_links=tuple(link for way in ways for link in trace_links(way)),
        client_address=wires[0].address(1),
        server_address=wires[-1].address(2),
        down=tuple(way.place for way in ways if way.name.endswith("down")),
        up=tuple(way.place for way in ways if way.name.endswith("up")),
    )


def _ways(
    number: int, link: Link, rtt: Duration, seed: int, until: Duration, wires: list[Wire]
) -> list[Way]:
    before, inner, after = wires[2 * number : 2 * number + 3]
    up = Bottleneck(inner.left, inner.left_device, after.left, after.left_device)
    down = Bottleneck(inner.right, inner.right_device, before.right, before.right_device)
    return [
        Way(f"link{number}-up", link.up, rtt, seed, until, up),
        Way(f"link{number}-down", link.down, rtt, seed, until, down),
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


def _routes(name: str, wires: list[Wire], host: Host | None) -> tuple[str, ...]:
    if host is not None:
        wire, side = (wires[0], 1) if name == wires[0].left else (wires[-1], 2)
        window = f" initcwnd {host.initial_window}" if host.initial_window else ""
        return (f"route add default via {wire.address(3 - side)}{window}",)
    position = next(i for i, wire in enumerate(wires) if wire.left == name)
    up, down = wires[position], wires[position - 1]
    return (
        *(f"route add 10.0.{w.number}.0/24 via {up.address(2)}" for w in wires[position + 1 :]),
        *(f"route add 10.0.{w.number}.0/24 via {down.address(1)}" for w in wires[: position - 1]),
    )


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
