"""Contact graph routing: by which edge a host sends a packet on, when, so that it arrives soonest by the plan of contacts.

The plan is known to every host in advance (RFC 4838, 3.7; the algorithm's aim is that of CCSDS 734.3-B-1, Schedule-Aware Bundle
Routing). Sending takes no time in it, and queues are empty.

As there, a host knows of no way that comes to a host twice: without that rule, packets would go to and fro until a link has
contact, and end by their hop limit. Where links keep packets meanwhile, no way is sooner. Where some lose them, a sooner one may be
missed, whose next host would send packets back: to find all of them is as hard as to find the longest way.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from headway.study.edge import Edge, NoWayError
from headway.study.path import Direction
from headway.study.units import Duration

_NEVER = 2**62
"""When a packet arrives that does not, ns."""


@dataclass(frozen=True)
class Departures:
    """Packets that leave a host for a destination from a time on, until those that follow.

    Attributes:
        since: when the first of them leaves, ns from the workload's start.
        edge: by which they leave, seen from the host; None at the destination itself, or if there is no way.
        travel: how long they take; None if they wait for a contact somewhere.
        arrival: when they arrive if they wait, all at once.
        ahead: the hosts that they come to.
    """

    since: int
    edge: Edge | None = field(compare=False)
    travel: int | None
    arrival: int
    ahead: frozenset[str] = frozenset()

    def arrival_at(self, left: int) -> int:
        """When a packet arrives that leaves at a time."""
        return self.arrival if self.travel is None else left + self.travel

    @property
    def arrives(self) -> bool:
        """Whether they do."""
        return self.travel is not None or self.arrival < _NEVER

    def are_like(self, others: Departures) -> bool:
        """Whether packets of both leave by the same edge, and arrive as if they were of one span."""
        same = self.edge is others.edge and self.travel == others.travel
        return same and self.arrival == others.arrival and self.ahead == others.ahead


Plan: TypeAlias = tuple[Departures, ...]
"""Of a host, in order; the first begins at 0."""


def at_time(plan: Plan, time: int) -> Departures:
    """Those of a plan to which a packet belongs that leaves at a time."""
    return plan[max(bisect_right(plan, time, key=lambda departure: departure.since) - 1, 0)]


def soonest(
    edges: Sequence[Edge], ends: Collection[str], destination: str, until: Duration
) -> Mapping[str, Plan]:
    """By which edges hosts send packets for a destination on.

    Of ways that arrive at the same time, that of fewest edges is taken.

    Args:
        edges: that there are.
        ends: names of hosts that pass on no packets of others.
        destination: name of the host that the packets are for.
        until: up to when.
    """
    seen = [way for edge in edges for way in (edge, edge.turned_around)]
    crossing = {(way.name, way.turned): _of_edge(way, until) for way in seen}
    usable = [way for way in seen if way.right == destination or way.right not in ends]
    plans: dict[str, Plan] = {destination: (Departures(0, None, 0, 0),)}
    nowhere: Plan = (_lost(0),)
    reached = {destination}
    while reached:
        before, changed = dict(plans), set()
        for way in usable:
            if way.right not in reached or way.left == destination:
                continue
            onward = _past(way.left, before[way.right])
            over = _in_a_row(crossing[way.name, way.turned], onward, way)
            known = plans.get(way.left, nowhere)
            better = tuple(_sooner(known, over))
            if better != known:
                plans[way.left] = better
                changed.add(way.left)
        reached = changed
    return plans


def first_way(
    plans: Mapping[str, Plan], start: str, destination: str, until: Duration
) -> tuple[Edge, ...]:
    """The way of a packet that leaves at 0, by plans up to a time.

    Raises:
        NoWayError: it does not arrive; says between which hosts.
    """
    way: list[Edge] = []
    here, now = start, 0
    while here != destination:
        departures = at_time(plans.get(here, (_lost(0),)), now)
        if departures.edge is None:
            raise NoWayError(
                f"there is no way from {start} to {destination} by the plan of contacts: state a link that leads on, "
                "or one that keeps packets meanwhile"
            )
        way.append(departures.edge)
        now = at_time(_of_edge(departures.edge, until), now).arrival_at(now)
        here = departures.edge.right
    return tuple(way)


def reached(plans: Mapping[str, Plan], start: str) -> dict[str, Plan]:
    """Those of hosts to which packets from one may come."""
    known: dict[str, Plan] = {}
    waiting = [start]
    while waiting:
        if (host := waiting.pop()) in plans and host not in known:
            known[host] = plans[host]
            waiting += [departure.edge.right for departure in plans[host] if departure.edge]
    return known


def _of_edge(edge: Edge, until: Duration) -> Plan:
    """When packets arrive at its right end."""
    plan: Plan = (Departures(0, edge, 0, 0),)
    for link in reversed(edge.path.links if edge.path else ()):
        plan = _in_a_row(tuple(_of_direction(link.up, until)), plan, edge)
    return plan


def _of_direction(direction: Direction, until: Duration) -> Iterator[Departures]:
    gaps = list(direction.contacts.between(until)) if direction.contacts else []
    ends = [gap.end for gap in gaps]
    delays = [(0, direction.delay)]
    delays += [
        (change.at, change.delay) for change in direction.changes if change.delay is not None
    ]
    times = {at for at, _ in delays if at < until} | {gap.start for gap in gaps}
    times |= {gap.end for gap in gaps if gap.end < until}
    for since in sorted(times):
        next_gaps = gaps[bisect_right(ends, since) :][:1]
        gap = next((gap for gap in next_gaps if gap.start <= since), None)
        delay = next(value for at, value in reversed(delays) if at <= since)
        if gap is None:
            yield Departures(since, None, delay, 0)
        elif direction.keeps and gap.end < _NEVER:
            later = next(value for at, value in reversed(delays) if at <= gap.end)
            yield Departures(since, None, None, gap.end + later)
        else:
            yield Departures(since, None, None, _NEVER)


def _past(host: str, plan: Plan) -> Plan:
    """What of a plan does not lead to a host."""
    lost = (
        _lost(departures.since) if host in departures.ahead else departures for departures in plan
    )
    return _merged(lost)


def _in_a_row(first: Plan, then: Plan, edge: Edge) -> Plan:
    """What becomes of packets that cross one and then the other."""
    return _merged(_crossing_both(first, then, edge))


def _crossing_both(first: Plan, then: Plan, edge: Edge) -> Iterator[Departures]:
    behinds, begins = list(_with_ends(then)), [departure.since for departure in then]
    for departures, end in _with_ends(first):
        travel = departures.travel
        if travel is None:
            behind = at_time(then, departures.arrival)
            arrives = departures.arrives and behind.arrives
            arrival = behind.arrival_at(departures.arrival) if arrives else _NEVER
            yield _by(edge, behind, departures.since, None, arrival)
            continue
        first_behind = max(bisect_right(begins, departures.since + travel) - 1, 0)
        for behind, _ in itertools.islice(behinds, first_behind, None):
            since = max(departures.since, behind.since - travel)
            if since >= end:
                break
            whole = None if behind.travel is None else travel + behind.travel
            yield _by(edge, behind, since, whole, behind.arrival if whole is None else 0)


def _by(edge: Edge, behind: Departures, since: int, travel: int | None, arrival: int) -> Departures:
    """Those that leave by an edge, and go on as others behind it do."""
    if travel is None and arrival == _NEVER:
        return _lost(since)
    return Departures(since, edge, travel, arrival, behind.ahead | {edge.right})


def _lost(since: int) -> Departures:
    return Departures(since, None, None, _NEVER)


def _sooner(plan: Plan, other: Plan) -> Plan:
    """Of two plans the one that arrives sooner, at every time; the first where both do."""
    return _merged(_sooner_ones(plan, other))


def _sooner_ones(plan: Plan, other: Plan) -> Iterator[Departures]:
    times = sorted({departure.since for departure in (*plan, *other)})
    spans = itertools.pairwise([*times, _NEVER])
    both = zip(spans, _at_times(plan, times), _at_times(other, times), strict=True)
    for (since, end), ours, theirs in both:
        cuts = [since]
        # A way that moves is as soon as one that waits at one time only.
        for moving, waiting in ((ours, theirs), (theirs, ours)):
            if moving.travel is not None and waiting.travel is None:
                equal = waiting.arrival - moving.travel
                # Where they are equal both may be taken; the first plan is.
                cut = equal if moving is theirs else equal + 1
                if since < cut < end:
                    cuts.append(cut)
        for begin in cuts:
            sooner = theirs if theirs.arrival_at(begin) < ours.arrival_at(begin) else ours
            yield replace(sooner, since=begin)


def _at_times(plan: Plan, times: Iterable[int]) -> Iterator[Departures]:
    """Those of a plan to which packets belong that leave at times, which are in order."""
    number = 0
    for time in times:
        while number + 1 < len(plan) and plan[number + 1].since <= time:
            number += 1
        yield plan[number]


def _merged(items: Iterable[Departures]) -> Plan:
    merged: list[Departures] = []
    for departure in items:
        last = merged[-1] if merged else None
        if not (last and last.are_like(departure)):
            merged.append(departure)
    return tuple(merged)


def _with_ends(plan: Plan) -> Iterator[tuple[Departures, int]]:
    ends = [*(departure.since for departure in plan[1:]), _NEVER]
    return zip(plan, ends, strict=True)
