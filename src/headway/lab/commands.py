"""Values of a network as lines for ``tc``, ``ip`` and ``nft``; the only place that writes such lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.lab.values import (
    Address,
    CableCounter,
    DelayLine,
    HostQueue,
    IpValue,
    NamedDrops,
    Neighbour,
    OnePacket,
    Queue,
    Quiet,
    Route,
    RoutingRule,
    Shaper,
    Shaping,
    Tun,
    Up,
)
from headway.planning.topology import Wire
from headway.study.family import Family
from headway.study.path import FRAME_BYTES, Discipline, Jitter, RandomLoss
from headway.study.units import Rate

_DELAY_LINE_PACKETS = 1_000_000
"""netem's own queue must never be the bottleneck; its default of 1000 packets is."""
_NO_OVERTAKING = "rate 100gbit"
"""With a rate, however high, netem sends packets in order, whatever their delays."""
_COUNTER = "pfifo limit 1000000"
"""A queue that is never full."""
_LATENESS_NS = 1000
"""How late a timer may fire in virtual time, which moves by about 0.3 us whenever it is read."""


def pair(wire: Wire) -> str:
    """The `ip` line that makes a veth pair."""
    return (
        f"link add {wire.left_device} netns {wire.left} address {wire.mac(1)} type veth "
        f"peer name {wire.right_device} netns {wire.right} address {wire.mac(2)}"
    )


def ip_line(value: IpValue) -> str:
    """The `ip` line that makes a value so."""
    match value:
        case Address(address, device, alone):
            # Looking for duplicates would take packets, and a while in which nobody can listen there.
            option = " nodad" if address.family is Family.IPV6 else ""
            network = address.alone if alone else address.in_network
            return f"addr add {network} dev {device}{option}"
        case Up(device, None):
            return f"link set {device} up"
        case Up(device, packets):
            return f"link set {device} txqueuelen {packets} up"
        case Quiet(device):
            return f"link set {device} arp off"
        case Neighbour(address, mac, device):
            # Permanent: an ARP exchange would consume draws of the loss sequence.
            return f"neigh add {address} lladdr {mac} dev {device} nud permanent"
        case OnePacket(device):
            return f"link set {device} gso_max_segs 1"
        case Tun(device):
            return f"tuntap add dev {device} mode tun"
        case RoutingRule(device, table, family, port, answers):
            side = "sport" if answers else "dport"
            match = "" if port is None else f"ipproto tcp {side} {port} "
            # It names no address by which `ip` could tell the family.
            option = "-6 " if family is Family.IPV6 else ""
            return f"{option}rule add iif {device} {match}table {table}"
        case Route():
            return " ".join(_route(value))


def _route(route: Route) -> Iterator[str]:
    yield "route replace" if route.replaces else "route add"
    network = "default" if route.network == Family.IPV4.everywhere else route.network
    yield f"local {network}" if route.local else network
    for word, value in (
        ("via", route.via),
        ("dev", route.device),
        ("src", route.source),
        ("initcwnd", route.initial_window),
        ("congctl", route.congestion_control),
        ("table", route.table),
        ("metric", route.metric),
    ):
        if value is not None:
            yield f"{word} {value}"


def address_loss(address: Address) -> str:
    """The `ip` line that takes an address away."""
    return ip_line(address).replace("addr add", "addr del", 1)


def additions(shaping: Iterable[Shaping]) -> tuple[str, ...]:
    """The `tc` lines that make queueing disciplines."""
    return tuple(line for one in shaping for line in _addition(one))


def renewal(shaping: Iterable[Shaping]) -> tuple[str, ...]:
    """The `tc` lines that make them anew where they are already."""
    made = tuple(shaping)
    # With its root, a device loses what is below it.
    removed = [f"qdisc del dev {one.device} root" for one in made if not isinstance(one, Queue)]
    return (*removed, *additions(made))


def alteration(what: Shaper | DelayLine) -> str:
    """The `tc` line that makes what is there this one."""
    if isinstance(what, Shaper):
        return _shaper_class("change", what)
    return f"qdisc change dev {what.device} root handle 1: {_netem(what)}"


def nft_table(drops: NamedDrops) -> str:
    """The nftables table that drops packets by their number."""
    # numgen counts from 0 and the set holds the counts of the packets to drop.
    counts = ", ".join(str(number - 1) for number in sorted(set(drops.numbers)))
    return (
        f"table netdev {drops.table} {{ chain drops {{\n"
        f'type filter hook ingress device "{drops.device}" priority 0;\n'
        f"numgen inc mod 2147483647 {{ {counts} }} counter drop\n}}\n}}\n"
    )


def _addition(one: Shaping) -> Iterator[str]:
    match one:
        case Shaper(device):
            yield f"qdisc add dev {device} root handle 1: htb default 1"
            yield _shaper_class("add", one)
        case Queue(device):
            yield f"qdisc add dev {device} parent 1:1 handle 10: {_discipline(one)}"
        case DelayLine(device):
            yield f"qdisc add dev {device} root handle 1: {_netem(one)}"
        case CableCounter(device):
            yield f"qdisc add dev {device} root handle 1: {_COUNTER}"
        case HostQueue(device, discipline):
            yield f"qdisc add dev {device} root handle 1: {discipline}"


def _shaper_class(verb: str, shaper: Shaper) -> str:
    """The HTB class that has the rate.

    Not tbf: whenever that is changed it fills its bucket, so every change of the rate would give
    a packet away. HTB keeps what it owes, which means that a packet whose sending has begun is
    finished at the rate it began with. Its burst is only what accrues while a timer is late.
    """
    rate = int(shaper.rate)
    burst = -(-rate * _LATENESS_NS // (8 * 10**9))
    return (
        f"class {verb} dev {shaper.device} parent 1: classid 1:1 "
        f"htb rate {rate}bit burst {burst} cburst {burst} quantum {FRAME_BYTES}"
    )


def _discipline(queue: Queue) -> str:
    limit = queue.limit_bytes
    packets = max(limit // FRAME_BYTES, 2)
    ecn = "ecn" if queue.ecn else "noecn"
    match queue.discipline:
        case Discipline.DROPTAIL if queue.packets:
            return f"pfifo limit {queue.packets}"
        case Discipline.DROPTAIL:
            return f"bfifo limit {limit}"
        case Discipline.CODEL:
            return f"codel limit {packets} {ecn}"
        case Discipline.FQ_CODEL:
            return f"fq_codel limit {packets} memory_limit {2 * limit} {ecn}"
        case Discipline.CAKE:
            return f"cake unlimited besteffort memlimit {2 * limit}"
        case Discipline.RED:
            return _red(queue.rate, limit) + (" ecn" if queue.ecn else "")
        case Discipline.PIE:
            return f"pie limit {packets} {ecn}"
        case Discipline.FQ_PIE:
            return f"fq_pie limit {packets} memory_limit {2 * limit} {ecn}"
        case Discipline.DUALPI2:
            return f"dualpi2 limit {packets}"


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


def _netem(line: DelayLine) -> str:
    words = ["netem", f"limit {_DELAY_LINE_PACKETS}", f"delay {line.delay.ns}ns"]
    if line.jitter:
        normal = line.distribution is Jitter.NORMAL
        words.append(f"{line.jitter.ns}ns" + (" distribution normal" if normal else ""))
    if line.keeps_order:
        words.append(_NO_OVERTAKING)
    words.append(f"loss {'random 100%' if line.black else _loss(line.loss)}")
    for name, share in (
        # netem lets one copy through when it duplicates a packet and loses it.
        ("duplicate", 0 if line.black else line.duplication),
        ("corrupt", line.corruption),
        ("reorder", line.reordering),
    ):
        if share:
            words.append(f"{name} {100 * share:g}%")
    words.append(f"seed {line.seed}")
    return " ".join(words)


def _loss(loss: RandomLoss) -> str:
    if loss.burst > 1:
        return f"gemodel {loss.enter_bad * 100:.7f}% {loss.leave_bad * 100:.7f}%"
    return f"random {loss.mean.pct:.7g}%"
