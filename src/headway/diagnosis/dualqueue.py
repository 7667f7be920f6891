"""Queues of DualPI2: how many packets each had, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.contract.sojourns import mean_ms, quantile_ms
from headway.planning.topology import Leg, bottlenecks
from headway.study.path import Way


def dual_queue_columns(legs: Sequence[Leg], outcome: Outcome) -> dict[str, Any]:
    """The columns of a record that tell of them on these legs; none if there are none, or the lab did not count."""
    columns: dict[str, Any] = {}
    for way in Way if outcome.counts else ():
        counts = Counts.total(
            outcome.counts[place.queue_device] for place in bottlenecks(legs, way)
        )
        if not (counts.sojourns_l or counts.sojourns_c):
            continue
        for queue, sojourns in (("l4s", counts.sojourns_l), ("classic", counts.sojourns_c)):
            columns[f"{queue}_packets_{way}"] = sum(sojourns)
            columns[f"step_marked_{way}"] = counts.step_marked
            if way is Way.DOWN:
                columns[f"{queue}_delay_ms"] = mean_ms(sojourns)
                columns[f"{queue}_delay_p99_ms"] = quantile_ms(sojourns, 0.99)
    return columns
