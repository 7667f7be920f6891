"""What hosts counted of what came to them."""

from __future__ import annotations

from typing import Any

from headway.contract.orders import Outcome
from headway.planning.deployment import Deployment


def host_count_columns(deployment: Deployment, outcome: Outcome) -> dict[str, Any]:
    """Columns of what all hosts with programs counted, and the clients'; none if the lab did not tell."""
    counts = outcome.host_counts
    if not counts:
        return {}
    clients = {flow.namespace for flow in deployment.flows}
    return {
        "udp_buffer_drops": sum(one.udp_buffer_drops for one in counts.values()),
        "out_of_order_segments": sum(
            one.out_of_order_segments for host, one in counts.items() if host in clients
        ),
    }
