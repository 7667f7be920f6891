"""What hosts counted of what came to them."""

from __future__ import annotations

from typing import Any

from headway.contract.orders import HostCounts, Outcome
from headway.planning.deployment import Deployment
from headway.study.workload import Cache, Page


def host_count_columns(deployment: Deployment, outcome: Outcome) -> dict[str, Any]:
    """Columns of what all hosts with programs counted, and the clients'; none if the lab did not tell."""
    counts = outcome.host_counts
    if not counts:
        return {}
    return {
        "udp_buffer_drops": sum(one.udp_buffer_drops for one in counts.values()),
        "out_of_order_segments": _out_of_order(deployment, counts),
    }


def _out_of_order(deployment: Deployment, counts: dict[str, HostCounts]) -> int | None:
    """Of the clients that have TCP; None if none has, or if the lab also saw visits that are not measured."""
    over_tcp = [one for one in deployment.each if one.segments[0].protocol.transport == "tcp"]
    if not over_tcp or any(_visits_before(one) for one in over_tcp):
        return None
    clients = {flow.namespace for one in over_tcp for flow in one.flows}
    return sum(one.out_of_order_segments for host, one in counts.items() if host in clients)


def _visits_before(deployment: Deployment) -> bool:
    page = deployment.setting.workload
    return isinstance(page, Page) and page.cache is not Cache.COLD
