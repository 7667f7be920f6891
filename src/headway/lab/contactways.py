"""Ways that follow contacts: to which neighbour a host sends a flow's packets on, from when on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from headway.lab.values import Route, TimedChange
from headway.planning.routing import StatedHop
from headway.planning.topology import LEFT, RIGHT, Leg
from headway.study.contactgraph import Plan
from headway.study.edge import Edge
from headway.study.family import HostAddress
from headway.study.units import Duration

if TYPE_CHECKING:  # A command without a study has none.
    from headway.planning.deployment import DeployedFlow


def first_hops(flow: DeployedFlow) -> Iterator[StatedHop]:
    """Where hosts send packets at first."""
    for addresses, plans in _destinations(flow):
        for host, plan in plans.items():
            if edge := plan[0].edge:
                device = _leg(flow, edge).wires[0].left_device
                yield from (StatedHop(host, device, address) for address in addresses)


def changed_hops(flow: DeployedFlow) -> Iterator[TimedChange]:
    """Where they send them from a time on."""
    until = flow.setting.limits.virtual
    for addresses, plans in _destinations(flow):
        for host, plan in plans.items():
            for before, then in pairwise(plan):
                # Where no contact comes any more, packets go where they went.
                if then.edge is None or then.edge is before.edge or then.since >= until:
                    continue
                via = _leg(flow, then.edge).wires[0].address(RIGHT)
                for address in addresses:
                    route = Route(address.alone, via=str(via), replaces=True)
                    yield TimedChange(Duration(then.since), host, route)


def _destinations(
    flow: DeployedFlow,
) -> Iterator[tuple[tuple[HostAddress, ...], Mapping[str, Plan]]]:
    """The addresses of both ends, with the plans of packets for them."""
    if flow.changing is None:
        return
    client = flow.legs[0].wires[0].address(LEFT)
    clients = (client, client.migrated) if flow.setting.workload.migrates else (client,)
    server = flow.legs[-1].wires[-1].address(RIGHT)
    yield (server, *flow.nodes[-1].more_addresses), flow.changing.planned.there
    yield clients, flow.changing.planned.back


def _leg(flow: DeployedFlow, edge: Edge) -> Leg:
    assert flow.changing, "its packets follow contacts"
    leg = flow.changing.legs[edge.name]
    return leg.turned_around if edge.turned else leg
