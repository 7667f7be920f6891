"""Hosts whose TCP offers Accurate ECN (RFC 9768), since a controller at either end of a connection needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.study.controllers import WITH_ACCURATE_ECN

# A command without a study lays a network out, too, and need not wait for this.
if TYPE_CHECKING:
    from headway.planning.deployment import Deployment, Segment


def hosts_with_accurate_ecn(deployment: Deployment) -> frozenset[str]:
    """Names of both hosts of every TCP connection that an end sends on with such a controller."""
    return frozenset(
        end.name for segment in accurate_segments(deployment) for end in (segment.near, segment.far)
    )


def accurate_segments(deployment: Deployment) -> Iterator[Segment]:
    """What TCP connections cross of which an end has a controller that needs Accurate ECN."""
    for flow in deployment.flows:
        for segment in flow.segments:
            ends = (segment.near, segment.far)
            if segment.protocol.transport == "tcp" and any(
                end.congestion_control in WITH_ACCURATE_ECN for end in ends
            ):
                yield segment
