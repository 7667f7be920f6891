"""One direction of a link as queueing disciplines: rate and queue, delay and loss, changes.

Order on the way: HTB with the queue's discipline below it on one device, netem on the next. In one
netem, a queue limit would count packets in flight.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from headway.contract.carrier import CarrierLink, Framing, GrantRules
from headway.contract.faults import FaultLink, PacketFault
from headway.contract.orders import TraceLink
from headway.lab.values import (
    DelayLine,
    EcnRules,
    Gate,
    IpValue,
    NamedDrops,
    PacketFilter,
    Policing,
    Queue,
    Route,
    RoutingRule,
    Shaper,
    Shaping,
    SilentRouter,
    TimedChange,
    Tun,
    Turn,
    UdpRules,
    Up,
)
from headway.planning.topology import LEFT, RIGHT, Bottleneck, LinkPlace
from headway.study.access import CapacityOnDemand, LossUnit
from headway.study.contacts import is_within
from headway.study.fault import Fault
from headway.study.loss import RandomLoss
from headway.study.nat import Nat
from headway.study.path import Direction, Way
from headway.study.queue import FRAME_BYTES
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.units import Duration, Rate, Ratio

_LONGEST_DEVICE_QUEUE = 32767
"""What the kernel accepts; packets wait there only until the trace link's process takes them."""
_PACKET_BYTES = 1500
"""A full-size packet without its frame."""


@dataclass(frozen=True)
class LinkWay:
    """One direction of one link, with all that its queueing disciplines depend on."""

    way: Way
    direction: Direction
    rtt: Duration
    seed: int
    until: Duration
    place: LinkPlace
    fault: Fault | None = None
    nat: Nat | None = None
    passes: bool = False
    """Whether its routers pass on what comes over it, whomever it is for: whoever sent it this way knew why."""

    @property
    def name(self) -> str:
        """As ``link0-up``."""
        return self.place.name(self.way)

    @cached_property
    def devices(self) -> Bottleneck:
        """Where its queue and its delay line are."""
        return self.place.bottleneck(self.way)


def shaping(way: LinkWay, namespace: str) -> Iterator[Shaping]:
    """What shapes a direction in a namespace."""
    if namespace == way.devices.queue_namespace:
        if policers := policing(way):
            # One that begins later is switched on then.
            udp = way.direction.udp
            yield replace(policers, udp=None) if udp and udp.start else policers
        yield from _bottleneck(way)
    if namespace == way.devices.loss_namespace:
        # An outage from the start begins with the workload; what comes before must pass.
        bright = way.direction.model_copy(update={"blackouts": (), "contacts": None})
        yield _delay_line(replace(way, direction=bright), Duration(0))


def _bottleneck(way: LinkWay) -> Iterator[Shaping]:
    rate, queue = way.direction.first_rate, way.direction.queue
    if rate is None or way.direction.has_process:
        return
    device = way.devices.queue_device
    overhead = way.direction.overhead_bytes
    yield Shaper(device, _rate_at_start(way, rate), overhead)
    limit_bytes = way.direction.queue_bytes(way.rtt) or 0
    gated = way.direction.keeps
    yield Queue(
        device,
        queue.discipline,
        limit_bytes,
        queue.packets,
        rate,
        queue.ecn,
        gated,
        tuple(queue.stated_times.items()),
    )


def _rate_at_start(way: LinkWay, otherwise: Rate) -> Rate:
    return next((rate for at, rate in reversed(rate_steps(way)) if at == 0), otherwise)


def _delay_line(way: LinkWay, at: Duration) -> DelayLine:
    """The delay line at a time: what the latest change says, or the direction itself."""
    direction = _direction_at(way.direction, at)
    access = direction.access
    in_frames = access is not None and access.lost is LossUnit.FRAMES
    return DelayLine(
        device=way.devices.loss_device,
        delay=direction.delay,
        jitter=direction.jitter or None,
        distribution=direction.jitter_distribution,
        keeps_order=direction.keeps_order,
        loss=RandomLoss(mean=Ratio(0)) if in_frames else direction.loss,
        black=is_within(direction.outages(way.until), at),
        duplication=direction.duplication,
        corruption=direction.corruption,
        reordering=direction.reordering,
        seed=_seed(way, "netem", at),
    )


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


def changes(way: LinkWay) -> Iterator[TimedChange]:
    """What changes in the course of the workload, by the schedule, the draws, the blackouts and the contacts."""
    direction, devices = way.direction, way.devices
    times = {change.at for change in direction.changes}
    times |= {time for span in direction.outages(way.until) for time in (span.start, span.end)}
    for at in sorted(times):
        if at < way.until:
            line = _delay_line(way, at)
            yield TimedChange(at, devices.loss_namespace, line, devices.queue_device)
    for gap in direction.closures(way.until):
        for at, is_open in ((gap.start, False), (gap.end, True)):
            if at < way.until:
                gate = Gate(devices.queue_device, is_open)
                yield TimedChange(at, devices.queue_namespace, gate)
    for at, rate in [] if way.direction.has_process else rate_steps(way):
        if 0 < at < way.until:
            shaper = Shaper(devices.queue_device, rate)
            yield TimedChange(at, devices.queue_namespace, shaper)
    yield from _turns(way)


def named_drops(way: LinkWay) -> NamedDrops | None:
    """The packets of a direction that are dropped by their number; None if none are."""
    numbers = way.direction.drop_packets
    return NamedDrops(str(way.way), way.place.arriving(way.way), numbers) if numbers else None


def policing(way: LinkWay) -> Policing | None:
    """The policers of a direction; None if it has none."""
    every, udp = way.direction.policer, way.direction.udp
    of_udp = udp.policer if udp else None
    if not (every or of_udp):
        return None
    return Policing(way.place.arriving(way.way), every, of_udp, way.place.inner.family)


def udp_rules(way: LinkWay) -> UdpRules | None:
    """What becomes of a direction's UDP packets, if not that a policer drops some; None if nothing does."""
    udp = way.direction.udp
    if udp is None or udp.policer:
        return None
    return UdpRules(f"{way.way}-udp", way.place.arriving(way.way), udp)


def ecn_rules(way: LinkWay) -> EcnRules | None:
    """What becomes of the ECN fields of a direction's packets; None if nothing does."""
    change = way.direction.ecn
    if change is None:
        return None
    device = way.place.leaving(way.way) if change.after_queue else way.place.arriving(way.way)
    return EcnRules(f"{way.way}-ecn", device, change)


def ecn_namespace(way: LinkWay) -> str:
    """Where these rules are: in the queue's router, or in that of the delay line."""
    change, devices = way.direction.ecn, way.devices
    return devices.loss_namespace if change and change.after_queue else devices.queue_namespace


def packet_filters(way: LinkWay) -> Iterator[PacketFilter]:
    """What drops packets of a direction in its queue's router, in the order in which they meet it."""
    yield from filter(None, (named_drops(way), udp_rules(way)))
    if (mtu := way.direction.carries) and not mtu.icmp:
        yield SilentRouter()


def with_mtu(way: LinkWay, value: IpValue) -> IpValue:
    """A value of its queue's router; of a route that leads into the link, with the direction's MTU.

    Not the device has it: that would drop longer packets of the other direction, too.
    """
    mtu, inner = way.direction.carries, way.place.inner
    neighbour = inner.address(2 if way.way is Way.UP else 1)
    if mtu and isinstance(value, Route) and value.via == neighbour:
        return replace(value, mtu=int(mtu.size))
    return value


def _turns(way: LinkWay) -> Iterator[TimedChange]:
    """Rules that begin or end after the workload's start."""
    udp, ecn = way.direction.udp, way.direction.ecn
    for rule, what, namespace in (
        (udp, udp_rules(way) or policing(way), way.devices.queue_namespace),
        (ecn, ecn_rules(way), ecn_namespace(way)),
    ):
        if rule is None or what is None:
            continue
        for at, on in ((rule.start, True), (rule.end, False)):
            if at and at < way.until:
                yield TimedChange(at, namespace, Turn(what, on))


def has_process(way: LinkWay) -> bool:
    """Whether its packets go through a process of their own."""
    return way.direction.has_process or way.fault is not None


def detour(way: LinkWay) -> tuple[IpValue, ...]:
    """What leads the packets of a direction with a process through its TUN device once."""
    table, tun = (100 if way.way is Way.UP else 101), f"{way.name}-tun"
    family = way.place.inner.family
    return (
        Tun(tun),
        Up(tun, _LONGEST_DEVICE_QUEUE),
        Route(family.everywhere, device=tun, table=table),
        RoutingRule(way.place.arriving(way.way), table, family),
    )


def passing_on(way: LinkWay, namespace: str) -> Iterator[IpValue]:
    """What leads its packets through one of its routers to the next host, if these pass on all."""
    place, family, devices = way.place, way.place.inner.family, way.devices
    table = 104 if way.way is Way.UP else 105
    side = RIGHT if way.way is Way.UP else LEFT
    after = place.after if way.way is Way.UP else place.before
    comes = f"{way.name}-tun" if has_process(way) else place.arriving(way.way)
    for host, came_by, wire, device in (
        (devices.queue_namespace, comes, place.inner, devices.queue_device),
        (devices.loss_namespace, place.leaving(way.way), after, devices.loss_device),
    ):
        if way.passes and host == namespace:
            via = str(wire.address(side))
            yield Route(family.everywhere, via=via, device=device, table=table)
            yield RoutingRule(came_by, table, family)


def rate_steps(way: LinkWay) -> list[tuple[Duration, Rate]]:
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


def trace_links(way: LinkWay) -> list[TraceLink]:
    """The process that a traced direction needs; none for others."""
    rate = way.direction.rate
    if not isinstance(rate, TraceRate):
        return []
    limit = way.direction.queue_bytes(way.rtt) or 0
    # The queue's size is in bytes on the wire, but a TUN device's packets have no frame.
    limit = limit * _PACKET_BYTES // FRAME_BYTES
    return [
        TraceLink(
            way.name, way.devices.queue_namespace, f"{way.name}-tun", rate.opportunities_ms, limit
        )
    ]


def carrier_links(way: LinkWay) -> list[CarrierLink]:
    """The process that a direction with frames needs; none for others."""
    access, rate = way.direction.access, way.direction.first_rate
    if access is None or rate is None:
        return []
    lost = way.direction.loss.mean if access.lost is LossUnit.FRAMES else 0.0
    framing = Framing(
        rate_bit_s=int(rate),
        frame_bytes=int(access.frame),
        lost_of_2_63=round(lost * 2**63),
        seed=_seed(way, "frames", Duration(0)),
        limit_bytes=way.direction.queue_bytes(way.rtt) or 0,
        limit_packets=way.direction.queue.packets or 0,
        demand=_demand(access.demand) if access.demand else None,
    )
    return [CarrierLink(way.name, way.devices.queue_namespace, f"{way.name}-tun", framing)]


def _demand(demand: CapacityOnDemand) -> GrantRules:
    return GrantRules(
        superframe_ns=demand.superframe.ns,
        latency_superframes=demand.latency_superframes,
        every_superframes=demand.every,
        constant_bit_s=int(demand.constant or 0),
        rate_bit_s=int(demand.rate_based or 0),
        volume_bytes=int(demand.volume_based or 0),
    )


KEPT_PACKETS, KEPT_AFTER = 4096, 64
"""Of a run to whose packets nothing happens, and of others after the last that is named: what they are is told of these."""


def fault_links(way: LinkWay) -> list[FaultLink]:
    """The process that a direction with faults needs; none for others."""
    if (fault := way.fault) is None:
        return []
    its = fault.happens and fault.direction is way.way
    packet_fault = (
        PacketFault(fault.kind, fault.packets, fault.span.ns, fault.passed_by) if its else None
    )
    kept = max(fault.packets) + KEPT_AFTER if fault.happens else KEPT_PACKETS
    router = way.devices.queue_namespace
    return [FaultLink(way.name, router, f"{way.name}-tun", packet_fault, kept, kept_file(way.way))]


def kept_file(way: Way) -> str:
    """Name of the file, in a run's directory, that tells of a direction's packets."""
    return f"packets-{way}.jsonl"


def _seed(way: LinkWay, purpose: str, at: Duration) -> int:
    """A stream of its own for every purpose, direction and change: 63 bits of a hash."""
    text = f"{way.seed}/{way.name}/{purpose}/{at.ns}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
