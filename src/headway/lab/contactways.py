"""Ways that follow contacts: to which neighbour a host sends a flow's packets on, from when on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Followed:
    """Packets for a host that follow contacts.

    Attributes:
        addresses: of the host.
        plans: by which edges hosts send them on.
        legs: by the names of these.
    """

    addresses: tuple[HostAddress, ...]
    plans: Mapping[str, Plan]
    legs: Mapping[str, Leg]

    def leg(self, edge: Edge) -> Leg:
        leg = self.legs[edge.name]
        return leg.turned_around if edge.turned else leg


def first_hops(flow: DeployedFlow) -> Iterator[StatedHop]:
    """Where hosts send packets at first."""
    for followed in _followed(flow):
        for host, plan in followed.plans.items():
            if edge := plan[0].edge:
                device = followed.leg(edge).wires[0].left_device
                yield from (StatedHop(host, device, address) for address in followed.addresses)


def changed_hops(flow: DeployedFlow) -> Iterator[TimedChange]:
    """Where they send them from a time on."""
    until = flow.setting.limits.virtual
    for followed in _followed(flow):
        for host, plan in followed.plans.items():
            for before, then in pairwise(plan):
                # Where no contact comes any more, packets go where they went.
                if then.edge is None or then.edge is before.edge or then.since >= until:
                    continue
                via = followed.leg(then.edge).wires[0].address(RIGHT)
                for address in followed.addresses:
                    route = Route(address.alone, via=str(via), replaces=True)
                    yield TimedChange(Duration(then.since), host, route)


def _followed(flow: DeployedFlow) -> Iterator[_Followed]:
    """The packets for both ends, and for a resolver."""
    client = flow.legs[0].wires[0].address(LEFT)
    clients = (client, client.migrated) if flow.setting.workload.migrates else (client,)
    known: Mapping[str, Plan] = {}
    if ways := flow.changing:
        server = flow.legs[-1].wires[-1].address(RIGHT)
        known = ways.planned.back
        yield _Followed((server, *flow.nodes[-1].more_addresses), ways.planned.there, ways.legs)
        yield _Followed(clients, known, ways.legs)
    if ways := flow.asking:
        resolver = flow.resolving[-1].wires[-1].address(RIGHT)
        # Of hosts on both ways, answers go by the same plan as other packets for the client.
        others = {host: plan for host, plan in ways.planned.back.items() if host not in known}
        yield _Followed((resolver,), ways.planned.there, ways.legs)
        yield _Followed(clients, others, ways.legs)
