"""Latencies of a series of requests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.quantile import at_share


@measure
def _latency(finished: FinishedRun) -> Mapping[str, Any]:
    measured = finished.measured
    return {
        **_told("latency", "latencies_ms", measured.latencies_s),
        **_told("tree", "trees_ms", measured.trees_s),
    }


def _told(name: str, column: str, waits_s: Sequence[float]) -> Mapping[str, Any]:
    """Columns of times, by the beginning of their names; none without times."""
    waits_ms = [round(wait_s * 1e3, 3) for wait_s in waits_s]
    if not waits_ms:
        return {}
    ordered = sorted(waits_ms)
    return {
        f"{name}_mean_ms": math.fsum(waits_ms) / len(waits_ms),
        f"{name}_p50_ms": at_share(ordered, 0.5),
        f"{name}_p95_ms": at_share(ordered, 0.95),
        f"{name}_p99_ms": at_share(ordered, 0.99),
        f"{name}_max_ms": ordered[-1],
        column: tuple(waits_ms),
    }
