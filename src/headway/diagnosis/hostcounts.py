"""Counts of hosts: of what came to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.contract.outcome import HostCounts, Outcome
from headway.planning.deployment import DeployedFlow


def host_count_columns(flows: Sequence[DeployedFlow], outcome: Outcome) -> dict[str, Any]:
    """Columns of what all hosts with programs of these flows counted, and the clients'; none if the lab did not tell."""
    hosts = {end.name for flow in flows for end in flow.programs}
    counts = {host: host_count for host, host_count in outcome.host_counts.items() if host in hosts}
    if not counts:
        return {}
    return {
        "udp_buffer_drops": sum(count.udp_buffer_drops for count in counts.values()),
        "out_of_order_segments": _out_of_order(flows, counts),
    }


def _out_of_order(flows: Sequence[DeployedFlow], counts: dict[str, HostCounts]) -> int | None:
    """Of the clients that have TCP; None if none has, or if the lab also saw visits that are not measured."""
    over_tcp = [
        flow
        for flow in flows
        if flow.segments[0].protocol.transport == "tcp" or flow.setting.discovery
    ]
    if not over_tcp or any(deployed_flow.setting.visited_before for deployed_flow in over_tcp):
        return None
    clients = [
        counts[deployed_flow.asked.namespace]
        for deployed_flow in over_tcp
        if deployed_flow.asked.namespace in counts
    ]
    return sum(client.out_of_order_segments for client in clients)
