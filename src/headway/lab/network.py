"""From a path to a network inside the lab: namespaces, addresses, queueing disciplines.

Topology of a path with n links, each link between two router namespaces::

    client -- link0a == link0b -- link1a == link1b -- ... -- server

Towards the server, a packet meets on link0: the named drops and the queue with the rate when
link0a sends to link0b, then delay, jitter and loss when link0b sends onward; towards the client
the mirror image. Rate and loss never sit on an end host's own interface, where the sender's
socket would feel back-pressure.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from dataclasses import dataclass

from headway.guest.orders import Change, Namespace, TraceLink
from headway.programs.base import CLIENT, SERVER
from headway.study.model import Host
from headway.study.path import (
    FRAME_BYTES,
    Direction,
    Discipline,
    Link,
    Path,
    RandomRate,
    RateSchedule,
    TraceRate,
)
from headway.study.units import Duration, Rate

_DELAY_LINE_PACKETS = 1_000_000
"""netem's own queue must never be the bottleneck; its default of 1000 packets is."""
_NO_OVERTAKING = "rate 100gbit"
"""With a rate, however high, netem keeps packets in order under jitter."""

_LONGEST_DEVICE_QUEUE = 32767
"""What the kernel accepts; packets wait there only until the trace link's process takes them."""
_PACKET_BYTES = 1500
"""A full-size packet without its frame."""
_LATENESS_NS = 1000
"""How late a timer may fire in virtual time, which moves by about 0.3 us whenever it is read."""

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
class Bottleneck:
    """Where the counters of a direction are: its queue's and its delay line's devices."""

    queue_namespace: str
    queue_device: str
    loss_namespace: str
    loss_device: str


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


@dataclass(frozen=True)
class _Way:
    """One direction of one link, with all that its queueing disciplines depend on."""

    name: str
    direction: Direction
    rtt: Duration
    seed: int
    until: Duration
    place: Bottleneck


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
        changes=tuple(sorted((c for way in ways for c in _changes(way)), key=lambda c: c.at_ns)),
        trace_links=tuple(link for way in ways for link in _trace_links(way)),
        client_address=wires[0].address(1),
        server_address=wires[-1].address(2),
        down=tuple(way.place for way in ways if way.name.endswith("down")),
        up=tuple(way.place for way in ways if way.name.endswith("up")),
    )


def _ways(
    number: int, link: Link, rtt: Duration, seed: int, until: Duration, wires: list[Wire]
) -> list[_Way]:
    before, inner, after = wires[2 * number : 2 * number + 3]
    up = Bottleneck(inner.left, inner.left_device, after.left, after.left_device)
    down = Bottleneck(inner.right, inner.right_device, before.right, before.right_device)
    return [
        _Way(f"link{number}-up", link.up, rtt, seed, until, up),
        _Way(f"link{number}-down", link.down, rtt, seed, until, down),
    ]


def _namespace(name: str, wires: list[Wire], ways: list[_Way], host: Host | None) -> Namespace:
    left = next((wire for wire in wires if wire.right == name), None)
    right = next((wire for wire in wires if wire.left == name), None)
    here = [way for way in ways if name in (way.place.queue_namespace, way.place.loss_namespace)]
    tc = [line for way in here for line in _queueing(way, name)]
    tuns = [way for way in here if _is_traced(way) and way.place.queue_namespace == name]
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


def _is_traced(way: _Way) -> bool:
    return isinstance(way.direction.rate, TraceRate)


def _queueing(way: _Way, namespace: str) -> list[str]:
    lines = []
    if namespace == way.place.queue_namespace:
        lines += _bottleneck(way)
    if namespace == way.place.loss_namespace:
        device = way.place.loss_device
        lines.append(f"qdisc add dev {device} root handle 1: {_netem(way, Duration(0))}")
    return lines


def _bottleneck(way: _Way) -> list[str]:
    rate = way.direction.first_rate
    if rate is None or _is_traced(way):
        return []
    device = way.place.queue_device
    limit = way.direction.queue.limit_bytes(rate, way.rtt)
    return [
        f"qdisc add dev {device} root handle 1: htb default 1",
        _shaper(way, "add", _rate_at_start(way, rate)),
        f"qdisc add dev {device} parent 1:1 handle 10: {_discipline(way, rate, limit)}",
    ]


def _rate_at_start(way: _Way, otherwise: Rate) -> Rate:
    return next((rate for at, rate in reversed(rate_steps(way)) if at == 0), otherwise)


def _shaper(way: _Way, verb: str, rate: Rate) -> str:
    """The HTB class that has the rate.

    Not tbf: whenever that is changed it fills its bucket, so every change of the rate would give
    a packet away. HTB keeps what it owes, which means that a packet whose sending has begun is
    finished at the rate it began with. Its burst is only what accrues while a timer is late.
    """
    burst = -(-int(rate) * _LATENESS_NS // (8 * 10**9))
    return (
        f"class {verb} dev {way.place.queue_device} parent 1: classid 1:1 "
        f"htb rate {int(rate)}bit burst {burst} cburst {burst} quantum {FRAME_BYTES}"
    )


def _discipline(way: _Way, rate: Rate, limit: int) -> str:
    packets = max(limit // FRAME_BYTES, 2)
    match way.direction.queue.discipline:
        case Discipline.DROPTAIL if way.direction.queue.packets:
            return f"pfifo limit {way.direction.queue.packets}"
        case Discipline.DROPTAIL:
            return f"bfifo limit {limit}"
        case Discipline.CODEL:
            return f"codel limit {packets} noecn"
        case Discipline.FQ_CODEL:
            return f"fq_codel limit {packets} memory_limit {2 * limit} noecn"
        case Discipline.CAKE:
            return f"cake unlimited besteffort memlimit {2 * limit}"
        case Discipline.RED:
            return _red(rate, limit)


def _red(rate: Rate, limit: int) -> str:
    """RED with the thresholds that tc-red(8) recommends: max half the limit, min a third of max."""
    highest = max(limit // 2, 2 * FRAME_BYTES)
    lowest = max(highest // 3, FRAME_BYTES)
    # tc-red(8) recommends (2 min + max) / (3 avpkt), but the kernel refuses a weight so small
    # that it and the upper threshold together exceed 31 bits.
    smoothing = min((highest - lowest) // (3 * 1000), 2 ** max(29 - highest.bit_length(), 0))
    burst = lowest // 1000 + smoothing + 1
    return (
        f"red limit {limit} min {lowest} max {highest} avpkt 1000 burst {burst} "
        f"bandwidth {int(rate)}bit probability 0.02"
    )


def _netem(way: _Way, at: Duration) -> str:
    """The delay line's netem at a time: what the latest change says, or the direction itself."""
    direction = _direction_at(way.direction, at)
    words = ["netem", f"limit {_DELAY_LINE_PACKETS}", f"delay {direction.delay.ns}ns"]
    if direction.jitter:
        words.append(
            f"{direction.jitter.ns}ns distribution {direction.jitter_distribution}"
            if direction.jitter_distribution == "normal"
            else f"{direction.jitter.ns}ns"
        )
        if not direction.jitter_reorders:
            words.append(_NO_OVERTAKING)
    words.append(f"loss {_loss(direction, at)}")
    black = any(window.start <= at < window.end for window in direction.blackouts)
    for name, share in (
        # netem lets one copy through when it duplicates a packet and loses it.
        ("duplicate", 0 if black else direction.duplication),
        ("corrupt", direction.corruption),
        ("reorder", direction.reordering),
    ):
        if share:
            words.append(f"{name} {100 * share:g}%")
    words.append(f"seed {_seed(way, 'netem', at)}")
    return " ".join(words)


def _loss(direction: Direction, at: Duration) -> str:
    if any(window.start <= at < window.end for window in direction.blackouts):
        return "random 100%"
    loss = direction.loss
    if loss.burst > 1:
        return f"gemodel {loss.enter_bad * 100:.7f}% {loss.leave_bad * 100:.7f}%"
    return f"random {loss.mean.pct:.7g}%"


def _direction_at(direction: Direction, at: Duration) -> Direction:
    fields: dict[str, object] = {}
    for change in direction.changes:
        if change.at <= at:
            fields |= {
                name: value
                for name in ("delay", "jitter", "loss")
                if (value := getattr(change, name)) is not None
            }
    return direction.model_copy(update=fields)


def _changes(way: _Way) -> list[Change]:
    direction = way.direction
    times = {change.at for change in direction.changes}
    times |= {time for window in direction.blackouts for time in (window.start, window.end)}
    place = way.place
    changes = [
        Change(
            at,
            place.loss_namespace,
            f"qdisc change dev {place.loss_device} root handle 1: {_netem(way, at)}",
        )
        for at in sorted(times)
        if at < way.until
    ]
    if not _is_traced(way):
        changes += [
            Change(at, place.queue_namespace, _shaper(way, "change", rate))
            for at, rate in rate_steps(way)
            if 0 < at < way.until
        ]
    return changes


def rate_steps(way: _Way) -> list[tuple[Duration, Rate]]:
    """Times and rates of a direction, from its schedule, its random draws or its changes."""
    steps = [(change.at, change.rate) for change in way.direction.changes if change.rate]
    match way.direction.rate:
        case RateSchedule(steps=planned, repeat=repeat):
            laps = range(way.until // repeat + 1) if repeat else range(1)
            steps += [
                (Duration(lap * (repeat or 0) + step.at), step.rate)
                for lap in laps
                for step in planned
            ]
        case RandomRate(low=low, high=high, every=every):
            draw = random.Random(_seed(way, "rate", Duration(0)))
            steps += [
                (Duration(n * every), Rate(draw.randint(low, high)))
                for n in range(way.until // every + 1)
            ]
    return sorted(steps)


def _trace_links(way: _Way) -> list[TraceLink]:
    rate = way.direction.rate
    if not isinstance(rate, TraceRate):
        return []
    limit = way.direction.queue.limit_bytes(way.direction.first_rate or Rate(1), way.rtt)
    # The queue's size is in bytes on the wire, but a TUN device's packets have no frame.
    limit = limit * _PACKET_BYTES // FRAME_BYTES
    return [
        TraceLink(
            way.name, way.place.queue_namespace, f"{way.name}-tun", rate.opportunities_ms, limit
        )
    ]


def _detour(way: _Way, wires: list[Wire]) -> list[str]:
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


def _named_drops(way: _Way, wires: list[Wire]) -> str:
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


def _seed(way: _Way, purpose: str, at: Duration) -> int:
    """A stream of its own for every purpose, direction and change: 63 bits of a hash."""
    text = f"{way.seed}/{way.name}/{purpose}/{at.ns}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
