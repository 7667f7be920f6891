"""Round trips of a run: whether answers, and what they carry, can come before it is given up."""

from __future__ import annotations

from collections.abc import Sequence

from headway.study.base_model import wrong
from headway.study.dns import Dns
from headway.study.edge import Edge
from headway.study.network import StatedNetwork
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart


def check_round_trips(network: StatedNetwork, dns: Dns | None, limit: Duration) -> None:
    """Check that a round trip, and an answer of a resolver, take less than a run may.

    Args:
        network: whose flows go over paths.
        dns: whom clients ask for addresses; None if nobody.
        limit: limits.virtual.

    Raises:
        PydanticCustomError: it would be given up; names the key.
    """
    for flow in network.flows:
        farthest = max(flow.origins.values(), key=lambda edge: edge.rtt, default=None)
        crossed = [*flow.route, *([farthest] if farthest else [])]
        rtt = Duration(sum(edge.rtt for edge in crossed))
        if rtt >= limit:
            longest = max(crossed, key=lambda edge: edge.rtt)
            raise wrong(
                f"{longest.key}.rtt",
                f"an RTT of {rtt} in all is beyond limits.virtual ({limit}), after which a run is given up",
            )
    farthest_ns = max(sum(edge.rtt for edge in flow.resolving) for flow in network.flows)
    if dns and farthest_ns + dns.delay >= limit:
        raise wrong(
            "dns.delay" if dns.delay else "dns.path.rtt",
            f"an answer would come beyond limits.virtual ({limit}), after which a run is given up",
        )


def check_transfer(route: Sequence[Edge], workload: WorkloadPart, limit: Duration) -> None:
    """Check that what a workload carries can pass before a run is given up, at the links' highest rates.

    Args:
        route: the edges that it crosses.
        workload: all that is carried; nothing is known of one that ends by itself, or that has two paths.
        limit: limits.virtual.

    Raises:
        PydanticCustomError: it cannot; names the key.
    """
    if workload.amount is None or workload.ends is not None or workload.path_beside is not None:
        return
    amount = Size(workload.amount * workload.requests)
    for edge in route:
        for link in edge.path.links if edge.path else ():
            passing = (link.up if workload.uploads else link.down).most_bytes(limit)
            if passing is not None and passing < amount:
                raise wrong(
                    f"{edge.key}.rate",
                    f"lets {Size(passing)} pass until limits.virtual ({limit}), when a run is given up; "
                    f"the workload has {amount}",
                )
