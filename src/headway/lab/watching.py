"""Counters of each segment's packets: at both ends, before the hosts themselves see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.contract.arrivals import Arrived, Watched
from headway.contract.outcome import Outcome
from headway.lab.nat import nat_addresses
from headway.planning.deployment import DeployedFlow, Deployment, Role, Segment, addressed
from headway.planning.topology import Leg
from headway.study.edge import Interface
from headway.study.family import HostAddress
from headway.study.path import Way


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
    return tuple(watch for flow in deployment.flows for watch in _of_flow(flow))


def _of_flow(flow: DeployedFlow) -> Iterator[Watched]:
    for number, segment in enumerate(flow.segments):
        first, last = segment.legs[0], segment.legs[-1]
        for way, host, device, senders in (
            (Way.DOWN, first.left, first.wires[0].left_device, answering(flow, number)),
            (Way.UP, last.right, last.wires[-1].right_device, _asking(flow, number)),
        ):
            name = watch_name(flow, segment, way)
            yield Watched(name, host, device, senders, flow.setting.family)
    for interface, leg in flow.beside.items():
        yield from _beside(flow, interface, leg)


def _beside(flow: DeployedFlow, interface: Interface, leg: Leg) -> Iterator[Watched]:
    """The same of a path between other interfaces."""
    family = leg.wires[0].family
    # A server answers a second interface from its own address.
    is_second = interface is Interface.SECOND
    answers = answering(flow, 0) if is_second else (leg.right_address,)
    own = _behind_nats([leg]) or (leg.left_address,)
    for way, host, device, senders in (
        (Way.DOWN, leg.left, leg.wires[0].left_device, answers),
        (Way.UP, leg.right, leg.wires[-1].right_device, own),
    ):
        yield Watched(_beside_name(flow, way, interface), host, device, senders, family)


def _beside_name(flow: DeployedFlow, way: Way, interface: Interface) -> str:
    return f"{watch_name(flow, flow.over(flow.beside[interface]), way)} ({interface})"


def arrived_at(outcome: Outcome, flow: DeployedFlow, segment: Segment, way: Way) -> Arrived | None:
    """What came to an end of a segment, over both families and both interfaces; None if the lab did not tell."""
    name = watch_name(flow, segment, way)
    own = outcome.arrived.get(name)
    is_before = segment.far.position <= flow.http_end
    names = [_beside_name(flow, way, interface) for interface in flow.beside if is_before]
    more = [arrivals for name in names if (arrivals := outcome.arrived.get(name))]
    if own is None or not more:
        return own
    every = (own, *more)
    return Arrived(
        sum(arrived.tcp_packets for arrived in every), sum(arrived.udp_packets for arrived in every)
    )


def arrived_second(outcome: Outcome, flow: DeployedFlow, way: Way) -> int | None:
    """Packets that came over the path of the client's second interface; None without one."""
    if not flow.second:
        return None
    arrived = outcome.arrived.get(_beside_name(flow, way, Interface.SECOND))
    return None if arrived is None else arrived.tcp_packets + arrived.udp_packets


def answering(flow: DeployedFlow, number: int) -> tuple[HostAddress, ...]:
    """The addresses that a segment's packets towards the client come from: whoever was asked, through TCP PEPs."""
    end = addressed(flow.segments[number:])
    own = flow.legs[end.position - 1].right_address
    return (own, *flow.nodes[end.position].more_addresses)


def _asking(flow: DeployedFlow, number: int) -> tuple[HostAddress, ...]:
    """The same of those towards the server."""
    asking = [segment.near for segment in flow.segments[: number + 1]]
    end = next(endpoint for endpoint in reversed(asking) if endpoint.role is not Role.TCP_PEP)
    own = flow.legs[end.position].left_address
    crossed = flow.legs[end.position : flow.segments[number].far.position]
    if behind := _behind_nats(crossed):
        return behind
    migrates = end.role is Role.CLIENT and flow.setting.workload.migrates
    return (own, own.migrated) if migrates else (own,)


def _behind_nats(legs: Sequence[Leg]) -> tuple[HostAddress, ...]:
    """The addresses of the last NAT on legs in a row; none without one."""
    nats = [(link.nat, place) for leg in legs for link, place in leg.links if link.nat]
    if not nats:
        return ()
    nat, place = nats[-1]
    return nat_addresses(nat, place.inner.address(1))
