"""Where a lab counts what comes of each segment's packets: at both ends, before the hosts themselves see them."""

from __future__ import annotations

from collections.abc import Iterator

from headway.contract.arrivals import Watched
from headway.planning.deployment import Deployment, Role, Segment, addressed
from headway.study.family import HostAddress
from headway.study.path import Way


def watch_name(deployment: Deployment, segment: Segment, way: Way) -> str:
    """What a count is called: whose flow, and from where to where.

    Args:
        deployment: of one flow.
        segment: one of its segments.
        way: which of its ends is watched: that to which packets go.
    """
    (flow,) = deployment.flows
    sender, receiver = segment.far.name, segment.near.name
    if way is Way.UP:
        sender, receiver = receiver, sender
    return f"{flow.name}: {sender} > {receiver}" if flow.name else f"{sender} > {receiver}"


def watched(deployment: Deployment) -> tuple[Watched, ...]:
    """All that is watched in a lab."""
    return tuple(one for flow in deployment.each for one in _of_flow(flow))


def _of_flow(deployment: Deployment) -> Iterator[Watched]:
    for number, segment in enumerate(deployment.segments):
        first, last = segment.legs[0], segment.legs[-1]
        for way, host, device, senders in (
            (Way.DOWN, first.left, first.wires[0].left_device, answering(deployment, number)),
            (Way.UP, last.right, last.wires[-1].right_device, _asking(deployment, number)),
        ):
            name = watch_name(deployment, segment, way)
            yield Watched(name, host, device, senders, deployment.setting.family)


def answering(deployment: Deployment, number: int) -> tuple[HostAddress, ...]:
    """The addresses that a segment's packets towards the client come from: whoever was asked, through TCP PEPs."""
    end = addressed(deployment.segments[number:])
    own = deployment.legs[end.position - 1].right_address
    return (own, *deployment.nodes[end.position].more_addresses)


def _asking(deployment: Deployment, number: int) -> tuple[HostAddress, ...]:
    """The same of those towards the server."""
    asking = [one.near for one in deployment.segments[: number + 1]]
    end = next(one for one in reversed(asking) if one.role is not Role.TCP_PEP)
    own = deployment.legs[end.position].left_address
    migrates = end.role is Role.CLIENT and deployment.setting.workload.migrates
    return (own, own.migrated) if migrates else (own,)
