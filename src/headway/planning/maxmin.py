"""Max-min fair rates: what flows would get if every link were shared fairly."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import inf
from typing import TypeVar

from headway.planning.deployment import DeployedFlow, FixedWay
from headway.study.path import Direction, Way
from headway.study.rates import RateSchedule

_Link = TypeVar("_Link", bound=Hashable)


def fair_rates_mbit(flows: Sequence[DeployedFlow]) -> list[float] | None:
    """Max-min fair rates on the wire of flows that share a network, each with its own part of it.

    Returns:
        A rate for each flow, infinite if nothing limits it; None if a link's rate changes, some of it is for other
            transports than UDP only, or packets follow contacts.
    """
    ways = [(flow.way, flow.setting.workload) for flow in flows]
    crossed = [
        _directions(way, uploads=workload.uploads)
        for way, workload in ways
        if isinstance(way, FixedWay)
    ]
    if len(crossed) < len(flows):
        return None
    links = {name: direction for flow in crossed for name, direction in flow.items()}
    if any(direction.highest_rate != direction.lowest_rate for direction in links.values()):
        return None
    if any(
        direction.rate and not isinstance(direction.rate, RateSchedule)
        for direction in links.values()
    ):
        return None
    if any(direction.udp for direction in links.values()):
        return None
    rates = {name: direction.capacity for name, direction in links.items()}
    return max_min({name: rate.mbit for name, rate in rates.items() if rate}, crossed)


def _directions(fixed: FixedWay, *, uploads: bool) -> dict[tuple[str, Way], Direction]:
    """The directions of links that a flow's data cross, by the router at the link's left end."""
    way = Way.UP if uploads else Way.DOWN
    return {
        (place.inner.left, way): link.up if way is Way.UP else link.down
        for leg in fixed.legs
        for link, place in leg.links
    }


def max_min(
    capacities: Mapping[_Link, float],
    routes: Sequence[Collection[_Link]],
    demands: Sequence[float] | None = None,
) -> list[float]:
    """Max-min fair rates of fluid flows (Bertsekas and Gallager, Data Networks, section 6.5.2).

    All rates grow alike until a link is full or a flow has what it asks for; those flows keep what
    they have, the others grow on.

    Args:
        capacities: of the links.
        routes: of every flow, the links that it crosses; those without a capacity limit nothing.
        demands: what every flow sends at most; everything if None.

    Returns:
        A rate for every flow, in the unit of the capacities; infinite if nothing limits it.
    """
    wanted = list(demands or [inf] * len(routes))
    rates = [0.0] * len(routes)
    growing = set(range(len(routes)))
    free = dict(capacities)
    while growing:
        crossed = {
            link: sum(link in routes[flow] for flow in growing)
            for link in free
            if any(link in routes[flow] for flow in growing)
        }
        step = min(
            [free[link] / count for link, count in crossed.items()]
            + [wanted[flow] - rates[flow] for flow in growing]
        )
        for flow in growing:
            rates[flow] += step
        full = set()
        for link, count in crossed.items():
            rest = free[link] - step * count
            if rest <= 1e-9 * capacities[link]:
                full.add(link)
            free[link] = max(rest, 0.0)
        stopped = {
            flow
            for flow in growing
            if rates[flow] >= wanted[flow] or full.intersection(routes[flow])
        }
        growing -= stopped
    return rates
