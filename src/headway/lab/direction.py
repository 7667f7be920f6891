"""One direction of a link as queueing disciplines: rate and queue, delay and loss, changes.

Order on the way: HTB with the queue's discipline below it on one device, netem on the next. In one
netem, a queue limit would count packets in flight.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace

from headway.guest.orders import Change, TraceLink
from headway.planning.topology import Bottleneck, LinkPlace
from headway.study.path import (
    FRAME_BYTES,
    Direction,
    Discipline,
    RandomRate,
    RateSchedule,
    TraceRate,
    Way,
)
from headway.study.units import Duration, Rate

_DELAY_LINE_PACKETS = 1_000_000
"""netem's own queue must never be the bottleneck; its default of 1000 packets is."""
_NO_OVERTAKING = "rate 100gbit"
"""With a rate, however high, netem sends packets in order, whatever their delays."""
_PACKET_BYTES = 1500
"""A full-size packet without its frame."""
_LATENESS_NS = 1000
"""How late a timer may fire in virtual time, which moves by about 0.3 us whenever it is read."""


@dataclass(frozen=True)
class LinkWay:
    """One direction of one link, with all that its queueing disciplines depend on."""

    way: Way
    direction: Direction
    rtt: Duration
    seed: int
    until: Duration
    place: LinkPlace

    @property
    def name(self) -> str:
        """As ``link0-up``."""
        return self.place.name(self.way)

    @property
    def devices(self) -> Bottleneck:
        """Where its queue and its delay line are."""
        return self.place.bottleneck(self.way)


def is_traced(way: LinkWay) -> bool:
    """Whether a Mahimahi trace gives the rate, and a process instead of HTB keeps the queue."""
    return isinstance(way.direction.rate, TraceRate)


def queueing(way: LinkWay, namespace: str) -> list[str]:
    """The `tc` lines that a direction needs in a namespace."""
    lines = []
    if namespace == way.devices.queue_namespace:
        lines += _bottleneck(way)
    if namespace == way.devices.loss_namespace:
        device = way.devices.loss_device
        # A blackout from the start begins with the workload; what comes before must pass.
        bright = replace(way, direction=way.direction.model_copy(update={"blackouts": ()}))
        lines.append(f"qdisc add dev {device} root handle 1: {_netem(bright, Duration(0))}")
    return lines


def _bottleneck(way: LinkWay) -> list[str]:
    rate = way.direction.first_rate
    if rate is None or is_traced(way):
        return []
    device = way.devices.queue_device
    limit = way.direction.queue.limit_bytes(rate, way.rtt)
    return [
        f"qdisc add dev {device} root handle 1: htb default 1",
        _shaper(way, "add", _rate_at_start(way, rate)),
        f"qdisc add dev {device} parent 1:1 handle 10: {_discipline(way, rate, limit)}",
    ]


def _rate_at_start(way: LinkWay, otherwise: Rate) -> Rate:
    return next((rate for at, rate in reversed(rate_steps(way)) if at == 0), otherwise)


def _shaper(way: LinkWay, verb: str, rate: Rate) -> str:
    """The HTB class that has the rate.

    Not tbf: whenever that is changed it fills its bucket, so every change of the rate would give
    a packet away. HTB keeps what it owes, which means that a packet whose sending has begun is
    finished at the rate it began with. Its burst is only what accrues while a timer is late.
    """
    burst = -(-int(rate) * _LATENESS_NS // (8 * 10**9))
    return (
        f"class {verb} dev {way.devices.queue_device} parent 1: classid 1:1 "
        f"htb rate {int(rate)}bit burst {burst} cburst {burst} quantum {FRAME_BYTES}"
    )


def _discipline(way: LinkWay, rate: Rate, limit: int) -> str:
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


def _netem(way: LinkWay, at: Duration) -> str:
    """The delay line's netem at a time: what the latest change says, or the direction itself."""
    direction = _direction_at(way.direction, at)
    words = ["netem", f"limit {_DELAY_LINE_PACKETS}", f"delay {direction.delay.ns}ns"]
    if direction.jitter:
        words.append(
            f"{direction.jitter.ns}ns distribution {direction.jitter_distribution}"
            if direction.jitter_distribution == "normal"
            else f"{direction.jitter.ns}ns"
        )
    if direction.keeps_order:
        words.append(_NO_OVERTAKING)
    words.append(f"loss {_loss(direction, at)}")
    black = _is_black(direction, at)
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
    if _is_black(direction, at):
        return "random 100%"
    loss = direction.loss
    if loss.burst > 1:
        return f"gemodel {loss.enter_bad * 100:.7f}% {loss.leave_bad * 100:.7f}%"
    return f"random {loss.mean.pct:.7g}%"


def _is_black(direction: Direction, at: Duration) -> bool:
    return any(window.start <= at < window.end for window in direction.blackouts)


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


def changes(way: LinkWay) -> list[Change]:
    """What changes in the course of the workload, by the schedule, the draws and the blackouts."""
    direction = way.direction
    times = {change.at for change in direction.changes}
    times |= {time for window in direction.blackouts for time in (window.start, window.end)}
    place = way.devices
    changes = [
        Change(
            at,
            place.loss_namespace,
            f"qdisc change dev {place.loss_device} root handle 1: {_netem(way, at)}",
            line=place.queue_device,
            blackout=_is_black(direction, at),
        )
        for at in sorted(times)
        if at < way.until
    ]
    if not is_traced(way):
        changes += [
            Change(at, place.queue_namespace, _shaper(way, "change", rate))
            for at, rate in rate_steps(way)
            if 0 < at < way.until
        ]
    return changes


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
    limit = way.direction.queue.limit_bytes(way.direction.first_rate or Rate(1), way.rtt)
    # The queue's size is in bytes on the wire, but a TUN device's packets have no frame.
    limit = limit * _PACKET_BYTES // FRAME_BYTES
    return [
        TraceLink(
            way.name, way.devices.queue_namespace, f"{way.name}-tun", rate.opportunities_ms, limit
        )
    ]


def _seed(way: LinkWay, purpose: str, at: Duration) -> int:
    """A stream of its own for every purpose, direction and change: 63 bits of a hash."""
    text = f"{way.seed}/{way.name}/{purpose}/{at.ns}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
