"""What a client asked a resolver, how often again, and what of it was lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from headway.contract.orders import Outcome
from headway.lab.watching import QUESTIONS
from headway.planning.deployment import DeployedFlow
from headway.programs.headway_dns import REPORT


def question_columns(
    flow: DeployedFlow, outcome: Outcome, directory: Path
) -> Mapping[str, int | None]:
    """Columns of the questions of a flow's client; none if it was told addresses.

    Over UDP, what the client sends is counted before the path may lose it. Over TCP no question is lost.
    """
    sent = outcome.arrived.get(QUESTIONS)
    if flow.resolver is None or sent is None:
        return {}
    file = directory / REPORT
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    told = [json.loads(line) for line in lines]
    over_udp = sum(one["transport"] == "udp" for one in told)
    different = {(one["name"], one["type"]) for one in told}
    return {
        "dns_queries": sent.udp_packets + len(told) - over_udp,
        "dns_lost": max(sent.udp_packets - over_udp, 0),
        "dns_retries": len(told) - len(different),
    }
