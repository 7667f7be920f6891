"""Expected values of a path, in closed form from what is configured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.selftest.delay import TOLERANCE_US
from headway.selftest.ideal import directions
from headway.study.path import Direction, Jitter, Path, Way
from headway.study.queue import FRAME_BYTES, Discipline
from headway.study.units import Duration

_FARTHEST_DEVIATIONS = 5
"""How many standard deviations normal jitter reaches, practically."""

Paths = Sequence[Path | None]
"""Paths between neighbouring hosts; None for a cable."""


@dataclass(frozen=True)
class DelayBounds:
    """Bounds of a delay in milliseconds.

    Attributes:
        stated_ms: what the path states at the start: its propagation delays.
        least_ms: no packet may be faster.
        lone_ms: a packet that meets no other must be as fast; a link that has been idle sends one
            packet at once, so that serialisation does not count.
        greatest_ms: no packet may be slower, whatever it meets in queues; None if that depends on
            more than sizes and rates.
        full_ms: the slowest packet is at least as slow if the queue was full; None if packets pass none, several, or
            one whose bytes do not tell how long it takes.
    """

    stated_ms: float
    least_ms: float
    lone_ms: float
    greatest_ms: float | None
    full_ms: float | None = None


@dataclass(frozen=True)
class Loss:
    """Random loss: its mean share, and the correlation of neighbours' fates (0 if independent)."""

    share: float
    correlation: float


def delay_span(paths: Paths, way: Way) -> DelayBounds:
    """Bounds of the one-way delay."""
    pairs = list(_directions(paths, way))
    stated = sum(direction.delay.ns for direction, _ in pairs)
    jitter = sum(_farthest_jitter_ns(direction) for direction, _ in pairs)
    kept = sum(d.contacts.longest_wait for d, _ in pairs if d.contacts and d.keeps)
    slack = 1000 * TOLERANCE_US * len(paths)
    queueing = [_longest_wait_ns(direction, rtt) for direction, rtt in pairs]
    # Of equal packets, a NAT may drop the one and pass the other; only their ports would tell them apart.
    bounded = all(wait is not None for wait in queueing) and not has_nat(paths)
    greatest = sum(_greatest_delay_ns(direction) for direction, _ in pairs) + jitter
    least = max(sum(_least_delay_ns(direction) for direction, _ in pairs) - jitter, 0)
    waits = [_full_wait_ns(direction, rtt) for direction, rtt in pairs if direction.rate]
    full = waits[0] if len(waits) == 1 and bounded else None
    return DelayBounds(
        stated_ms=stated / 1e6,
        least_ms=least / 1e6,
        lone_ms=(stated + jitter + kept + slack) / 1e6,
        greatest_ms=(greatest + sum(filter(None, queueing)) + slack) / 1e6 if bounded else None,
        full_ms=None if full is None else (least + full - slack) / 1e6,
    )


def mean_loss(paths: Paths, way: Way) -> Loss | None:
    """Random loss of one direction; None if it is not the same all the time."""
    result = [direction for direction, _ in _directions(paths, way)]
    if has_nat(paths) or not all(_loses_evenly(direction) for direction in result):
        return None
    passed = math.prod(1 - direction.loss.mean for direction in result)
    correlations = [
        1 - loss.enter_bad - loss.leave_bad
        for loss in (direction.loss for direction in result)
        if loss.burst > 1
    ]
    return Loss(1 - passed, max(correlations, default=0.0))


def there_and_back(paths: Paths) -> tuple[DelayBounds, Loss | None]:
    """Bounds of the round-trip time, and how many round trips fail."""
    up, down = delay_span(paths, Way.UP), delay_span(paths, Way.DOWN)
    lost = [mean_loss(paths, way) for way in Way]
    span = DelayBounds(
        up.stated_ms + down.stated_ms, up.least_ms + down.least_ms, up.lone_ms + down.lone_ms, None
    )
    if lost[0] is None or lost[1] is None:
        return span, None
    share = 1 - (1 - lost[0].share) * (1 - lost[1].share)
    return span, Loss(share, max(lost[0].correlation, lost[1].correlation))


def has_nat(paths: Paths) -> bool:
    """Whether a NAT gives packets other addresses and ports, and drops those that belong to none."""
    return any(link.nat for path in paths if path for link in path.links)


def drops_are_counted(paths: Paths, way: Way) -> bool:
    """Whether counters tell of every packet that is missing.

    They do not of those that are damaged, and of one that is duplicated a copy may be lost.
    """
    return not any(
        direction.corruption or direction.duplication for direction, _ in _directions(paths, way)
    )


def _directions(paths: Paths, way: Way) -> Iterator[tuple[Direction, Duration]]:
    """Directions of all links, with the round-trip time that sizes of their queues refer to."""
    for path in paths:
        if path:
            yield from ((direction, path.rtt) for direction in directions(path, way))


def _least_delay_ns(direction: Direction) -> int:
    if direction.reordering:
        return 0
    return min([direction.delay, *(c.delay for c in direction.changes if c.delay is not None)])


def _greatest_delay_ns(direction: Direction) -> int:
    return max([direction.delay, *(c.delay for c in direction.changes if c.delay is not None)])


def _farthest_jitter_ns(direction: Direction) -> int:
    """How far from its delay a packet can come, at any time."""
    far = _FARTHEST_DEVIATIONS if direction.jitter_distribution is Jitter.NORMAL else 1
    changed = [change.jitter for change in direction.changes if change.jitter is not None]
    return far * max([direction.jitter, *changed])


def _longest_wait_ns(direction: Direction, rtt: Duration) -> int | None:
    """How long a full queue and the packet that is being sent take; None if not known."""
    if direction.rate is None:
        return 0
    lowest = direction.lowest_rate
    if lowest is None or direction.first_rate is None:
        return None
    if direction.queue.discipline is not Discipline.DROPTAIL:
        return None
    limit = direction.queue_bytes(rtt) or 0
    sending_ns = (limit + FRAME_BYTES + direction.overhead_bytes) * 8 * 10**9 // lowest
    if direction.contacts is None or not direction.keeps:
        return sending_ns
    # What a contact has no time for waits for another one.
    shortest = min(contact.length for contact in direction.contacts.spans)
    return sending_ns + direction.contacts.longest_wait * (sending_ns // shortest + 1)


def _full_wait_ns(direction: Direction, rtt: Duration) -> int | None:
    """How long the last packet takes that a drop-tail queue had room for: all of it less one packet; None if not known.

    Each packet that it dropped found less room than it needs.
    """
    rate = direction.first_rate
    plain = direction.queue.packets is None and not (
        direction.has_rules or direction.tunnel or direction.contacts
    )
    if not rate or not plain or rate != direction.lowest_rate or rate != direction.highest_rate:
        return None
    return ((direction.queue_bytes(rtt) or 0) - FRAME_BYTES) * 8 * 10**9 // rate


def _loses_evenly(direction: Direction) -> bool:
    return not (
        direction.has_rules
        or direction.duplication
        or direction.corruption
        or direction.drop_packets
        or direction.is_interrupted
        or direction.has_process
        or any(change.loss is not None for change in direction.changes)
    )
