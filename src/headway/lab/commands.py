"""Values of a network as lines for ``tc``, ``ip`` and ``nft``; the only place that writes such lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from headway.lab.arrivalrules import ARRIVING, ecn_rules, ruled, udp_rule
from headway.lab.values import (
    Address,
    CableCounter,
    DelayLine,
    EcnRules,
    Gate,
    HostQueue,
    IpValue,
    Mapper,
    NamedDrops,
    Neighbour,
    NewMappings,
    OnePacket,
    PacketFilter,
    Policing,
    Queue,
    Quiet,
    Route,
    RoutingRule,
    Shaper,
    Shaping,
    SilentRouter,
    SourceRule,
    Tun,
    Turn,
    UdpRules,
    Up,
)
from headway.planning.topology import Wire
from headway.study.family import Family
from headway.study.loss import RandomLoss
from headway.study.middlebox import Policer
from headway.study.path import Jitter
from headway.study.queue import ETHERNET_HEADER_BYTES, FRAME_BYTES, Discipline
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
        case SourceRule(address, table):
            option = "-6 " if address.family is Family.IPV6 else ""
            return f"{option}rule add from {address} table {table}"
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
        # Not locked, it would not hold for packets of IPv6 that are only passed on.
        ("mtu lock", route.mtu),
    ):
        if value is not None:
            yield f"{word} {value}"


def address_loss(address: Address) -> str:
    """The `ip` line that takes an address away."""
    return ip_line(address).replace("addr add", "addr del", 1)


def additions(shaping: Iterable[Shaping]) -> tuple[str, ...]:
    """The `tc` lines that make queueing disciplines."""
    return tuple(line for shaper in shaping for line in _addition(shaper))


def renewal(shaping: Iterable[Shaping]) -> tuple[str, ...]:
    """The `tc` lines that make them anew where they are already."""
    made = tuple(shaping)
    # With its root, a device loses what is below it.
    removed = [
        f"qdisc del dev {shaper.device} {'ingress' if isinstance(shaper, Policing) else 'root'}"
        for shaper in made
        if not isinstance(shaper, Queue)
    ]
    return (*removed, *additions(made))


def alteration(what: Shaper | Gate | DelayLine) -> str:
    """The `tc` line that makes what is there this one."""
    if isinstance(what, Shaper):
        return _shaper_class("change", what)
    if isinstance(what, Gate):
        action = "release_indefinite" if what.is_open else "block"
        return f"{_queue_of('change', what.device)} plug {action}"
    return f"qdisc change dev {what.device} root handle 1: {_netem(what)}"


def nft_table(packets: PacketFilter) -> str:
    """The nftables table that drops packets."""
    match packets:
        case NamedDrops(table, device, numbers):
            # numgen counts from 0 and the set holds the counts of the packets to drop.
            counts = ", ".join(str(number - 1) for number in sorted(set(numbers)))
            return (
                f"table netdev {table} {{ chain drops {{\n"
                f'type filter hook ingress device "{device}" priority 0;\n'
                f"numgen inc mod 2147483647 {{ {counts} }} counter drop\n}}\n}}\n"
            )
        case UdpRules(table, device, udp):
            return ruled(table, device, "" if udp.start else f"{udp_rule(udp)}\n")
        case EcnRules(table, device, change):
            rules = "" if change.start else "".join(f"{rule}\n" for rule in ecn_rules(change))
            return ruled(table, device, rules)
        case Mapper():
            return _nat_table(packets)
        case SilentRouter():
            return (
                "table inet silent { chain told {\ntype filter hook output priority 0;\n"
                "icmp type destination-unreachable icmp code frag-needed drop\n"
                "icmpv6 type packet-too-big drop\n}\n}\n"
            )


def turned(turn: Turn) -> tuple[str, str]:
    """The `tc` line, or the nftables rules, that switch what becomes of UDP on or off; the other is empty."""
    match turn.what:
        case Policing() as policing:
            at = f"filter {{}} dev {policing.device} parent ffff: protocol"
            if turn.on:
                return next(_policers(policing)), ""
            return f"{at.format('del')} {_protocol(policing.family)} prio 1", ""
        case UdpRules(table, _, udp) if turn.on:
            return "", f"add rule netdev {table} {ARRIVING} {udp_rule(udp)}"
        case EcnRules(table, _, change) if turn.on:
            rules = (f"add rule netdev {table} {ARRIVING} {rule}" for rule in ecn_rules(change))
            return "", "\n".join(rules)
        case UdpRules(table) | EcnRules(table):
            return "", f"flush chain netdev {table} {ARRIVING}"


def rebinding(change: NewMappings) -> tuple[tuple[str, ...], str]:
    """The `ip` lines by which all mappings are forgotten, and the nftables rules that make others.

    "masquerade" forgets those to an address that its device loses.
    """
    old, new, passing = change.old, change.new, change.passing
    addresses = (
        (ip_line(new), address_loss(old))
        if new != old
        else (ip_line(passing), address_loss(old), ip_line(old), address_loss(passing))
    )
    # Some routes may have gone with the address.
    routes = (ip_line(replace(route, replaces=True)) for route in change.routes)
    rules = (_mapping(change.mapper, change.number), _pinging(change.mapper))
    added = "".join(f"add rule ip {_NAT} {_NAT_CHAIN} {rule}\n" for rule in rules)
    return (*addresses, *routes), f"flush chain ip {_NAT} {_NAT_CHAIN}\n{added}"


_NAT, _NAT_CHAIN = "nat", "leaving"
_PORTS = ("10000-19999", "20000-29999")
"""Before and after a rebinding, and so on. Clients have others (net.ipv4.ip_local_port_range)."""


def _nat_table(mapper: Mapper) -> str:
    """Before the first rebinding."""
    unseen = (
        "chain unseen {\ntype filter hook prerouting priority raw;\n"
        f'iifname "{mapper.unseen}" notrack\n}}\n'
        if mapper.unseen
        else ""
    )
    outside, dropped = f'iifname "{mapper.outside}"', 'counter name "unmapped" drop'
    return (
        f"table ip {_NAT} {{\ncounter mapped {{ }}\ncounter remapped {{ }}\ncounter unmapped {{ }}\n"
        f"{unseen}chain {_NAT_CHAIN} {{\ntype nat hook postrouting priority srcnat;\n"
        f"{_mapping(mapper, 0)}\n{_pinging(mapper)}\n}}\n"
        "chain arriving {\ntype filter hook input priority 0;\n"
        f"{outside} {dropped}\n}}\n"
        "chain passing {\ntype filter hook forward priority 0;\n"
        f"{outside} ct state new,invalid {dropped}\n}}\n}}\n"
    )


def _mapping(mapper: Mapper, number: int) -> str:
    counter = "remapped" if number else "mapped"
    return (
        f'oifname "{mapper.outside}" meta l4proto {{ tcp, udp }} counter name "{counter}" '
        f"masquerade to :{_PORTS[number % 2]}"
    )


def _pinging(mapper: Mapper) -> str:
    return f'oifname "{mapper.outside}" masquerade'


def _protocol(family: Family) -> str:
    return "ipv6" if family is Family.IPV6 else "ip"


def _policers(policing: Policing) -> Iterator[str]:
    """`tc` lines; that of UDP first, as it is met first."""
    at = f"filter add dev {policing.device} parent ffff: protocol"
    if policing.udp:
        protocol = _protocol(policing.family)
        match = f"u32 match {'ip6' if protocol == 'ipv6' else 'ip'} protocol 17 0xff"
        yield f"{at} {protocol} prio 1 {match} {_police(policing.udp)}/continue"
    if policing.every:
        yield f"{at} all prio 2 matchall {_police(policing.every)}/pass"


def _police(policer: Policer) -> str:
    # As all rates of links, it counts frames. Longer ones than its "mtu" would be dropped.
    return (
        f"action police rate {int(policer.rate)}bit burst {int(policer.burst)} mtu 65535"
        f" overhead {ETHERNET_HEADER_BYTES} conform-exceed drop"
    )


def _addition(shaping: Shaping) -> Iterator[str]:
    match shaping:
        case Shaper(device, _, overhead):
            stab = f"stab overhead {overhead} " if overhead else ""
            yield f"qdisc add dev {device} root handle 1: {stab}htb default 1"
            yield _shaper_class("add", shaping)
        case Queue(device):
            yield f"{_queue_of('add', device)} {_managed(shaping)}"
            if shaping.gated:
                yield alteration(Gate(device, is_open=True))
        case DelayLine(device):
            yield f"qdisc add dev {device} root handle 1: {_netem(shaping)}"
        case CableCounter(device):
            yield f"qdisc add dev {device} root handle 1: {_COUNTER}"
        case HostQueue(device, discipline):
            yield f"qdisc add dev {device} root handle 1: {discipline}"
        case Policing(device):
            yield f"qdisc add dev {device} ingress"
            yield from _policers(shaping)


def _queue_of(verb: str, device: str) -> str:
    return f"qdisc {verb} dev {device} parent 1:1 handle 10:"


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


_TIMES = {"step": "step_thresh", "target": "target", "interval": "interval"}
"""What `tc` calls the times of an active queue management."""


def _managed(queue: Queue) -> str:
    """A discipline with its times."""
    words = _TIMES | {"interval": "rtt"} if queue.discipline is Discipline.CAKE else _TIMES
    times = (f" {words[name]} {int(value) // 1000}us" for name, value in queue.times)
    return f"{_discipline(queue)}{''.join(times)}"


def _discipline(queue: Queue) -> str:
    limit = queue.limit_bytes
    packets = max(limit // FRAME_BYTES, 2)
    ecn = "ecn" if queue.ecn else "noecn"
    match queue.discipline:
        case Discipline.DROPTAIL if queue.gated:
            return f"plug limit {limit}"
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
