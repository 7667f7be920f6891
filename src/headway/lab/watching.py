"""Where a lab counts what comes of each segment's packets: at both ends, before the hosts themselves see them."""

from __future__ import annotations

from collections.abc import Iterator

from headway.contract.arrivals import Arrived, Watched
from headway.contract.orders import Outcome
from headway.lab.nat import nat_addresses
from headway.planning.deployment import DeployedFlow, Deployment, Role, Segment, addressed
from headway.planning.topology import Leg
from headway.study.family import HostAddress
from headway.study.path import Way

OTHER = " (other family)"


def watch_name(flow: DeployedFlow, segment: Segment, way: Way) -> str:
    """What a count is called: whose flow, and from where to where.

    Args:
        flow: the flow.
        segment: one of its segments.
        way: which of its ends is watched: that to which packets go.
    """
    sender, receiver = segment.far.name, segment.near.name
    if way is Way.UP:
        sender, receiver = receiver, sender
    whose = f"{flow.asked.name}: " if flow.asked.name else ""
    return f"{whose}{sender} > {receiver}"


def watched(deployment: Deployment) -> tuple[Watched, ...]:
    """All that is watched in a lab."""
    return tuple(one for flow in deployment.flows for one in _of_flow(flow))


def _of_flow(flow: DeployedFlow) -> Iterator[Watched]:
    for number, segment in enumerate(flow.segments):
        first, last = segment.legs[0], segment.legs[-1]
        for way, host, device, senders in (
            (Way.DOWN, first.left, first.wires[0].left_device, answering(flow, number)),
            (Way.UP, last.right, last.wires[-1].right_device, _asking(flow, number)),
        ):
            name = watch_name(flow, segment, way)
            yield Watched(name, host, device, senders, flow.setting.family)
    if flow.other:
        yield from _of_other_family(flow, flow.other)


def _of_other_family(flow: DeployedFlow, leg: Leg) -> Iterator[Watched]:
    """The same of the path over the other family."""
    (segment,) = flow.segments
    family = flow.setting.family.other
    for way, host, device, sender in (
        (Way.DOWN, leg.left, leg.wires[0].left_device, leg.right_address),
        (Way.UP, leg.right, leg.wires[-1].right_device, leg.left_address),
    ):
        yield Watched(watch_name(flow, segment, way) + OTHER, host, device, (sender,), family)


def arrived_at(outcome: Outcome, flow: DeployedFlow, segment: Segment, way: Way) -> Arrived | None:
    """What came to an end of a segment, over both families; None if the lab did not tell."""
    name = watch_name(flow, segment, way)
    own, other = outcome.arrived.get(name), outcome.arrived.get(name + OTHER)
    if own is None or other is None:
        return own
    return Arrived(own.tcp_packets + other.tcp_packets, own.udp_packets + other.udp_packets)


def answering(flow: DeployedFlow, number: int) -> tuple[HostAddress, ...]:
    """The addresses that a segment's packets towards the client come from: whoever was asked, through TCP PEPs."""
    end = addressed(flow.segments[number:])
    own = flow.legs[end.position - 1].right_address
    return (own, *flow.nodes[end.position].more_addresses)


def _asking(flow: DeployedFlow, number: int) -> tuple[HostAddress, ...]:
    """The same of those towards the server."""
    asking = [segment.near for segment in flow.segments[: number + 1]]
    end = next(one for one in reversed(asking) if one.role is not Role.TCP_PEP)
    own = flow.legs[end.position].left_address
    crossed = flow.legs[end.position : flow.segments[number].far.position]
    nats = [(one.nat, place) for leg in crossed for one, place in leg.links if one.nat]
    if nats:
        nat, place = nats[-1]
        return nat_addresses(nat, place.inner.address(1))
    migrates = end.role is Role.CLIENT and flow.setting.workload.migrates
    return (own, own.migrated) if migrates else (own,)
