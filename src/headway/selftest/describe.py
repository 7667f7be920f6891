"""A path in a few words, for a column of a table."""

from __future__ import annotations

from headway.study.path import Direction, Link, Path
from headway.study.queue import Discipline, Queue
from headway.study.rates import RandomRate, RateSchedule, TraceRate
from headway.study.units import Duration


def describe(path: Path) -> str:
    """A path's properties that differ from those of a plain wire."""
    return " + ".join(_link(link) for link in path.links)


def _link(link: Link) -> str:
    nat = f", {link.nat}" if link.nat else ""
    return _ways(link) + nat


def _ways(link: Link) -> str:
    down, up = _direction(link.down), _direction(link.up)
    if down == up:
        words = [*down[:1], f"rtt {Duration(link.down.delay + link.up.delay)}", *down[2:]]
        return ", ".join(word for word in words if word)
    shared = [word for word in down if word in up]
    own = [
        f"{name} {' '.join(word for word in words if word and word not in shared)}"
        for name, words in (("down", down), ("up", up))
        if any(word and word not in shared for word in words)
    ]
    return ", ".join([*(word for word in shared if word), *own])


def _direction(direction: Direction) -> list[str]:
    """The rate, the delay, and whatever else differs from the default."""
    words = [_rate(direction), f"delay {direction.delay}"]
    if direction.jitter:
        shape = (
            f" {direction.jitter_distribution}"
            if direction.jitter_distribution != "uniform"
            else ""
        )
        order = " out of order" if direction.jitter_reorders else ""
        words.append(f"jitter {direction.jitter}{shape}{order}")
    if direction.loss.mean:
        burst = f" in bursts of {direction.loss.burst:g}" if direction.loss.burst > 1 else ""
        words.append(f"loss {direction.loss.mean}{burst}")
    for name in ("reordering", "duplication", "corruption"):
        if share := getattr(direction, name):
            words.append(f"{name} {share}")
    for name, count in (
        ("named drop", len(direction.drop_packets)),
        ("blackout", len(direction.blackouts)),
        ("change", len(direction.changes)),
    ):
        if count:
            words.append(f"{count} {name}{'s' if count > 1 else ''}")
    if direction.mtu:
        words.append(f"MTU {direction.mtu.size}{'' if direction.mtu.icmp else ' without ICMP'}")
    if direction.tunnel:
        words.append(f"tunnel {direction.tunnel}")
    if direction.policer:
        words.append(f"policed to {direction.policer.rate}")
    if direction.udp:
        words.append(f"udp {direction.udp}")
    if direction.queue != Queue(bdp=1):
        words.append(_queue(direction.queue))
    return words


def _rate(direction: Direction) -> str:
    match direction.rate:
        case None:
            return ""
        case RateSchedule(steps=steps):
            return (
                str(steps[0].rate)
                if len(steps) == 1
                else f"{len(steps)} rates from {steps[0].rate}"
            )
        case RandomRate(low=low, high=high, every=every):
            return f"{low} to {high} every {every}"
        case TraceRate(trace=name):
            return f"trace {name}"


def _queue(queue: Queue) -> str:
    size = f"{queue.bdp:g} BDP" if queue.bdp is not None else str(queue.size)
    if queue.packets is not None:
        size = f"{queue.packets} packets"
    name = "" if queue.discipline is Discipline.DROPTAIL else f" {queue.discipline}"
    return f"queue {size}{name}"
