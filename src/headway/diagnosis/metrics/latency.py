"""How long requests of a series took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.quantile import at_share


@measure
def _latency(finished: FinishedRun) -> Mapping[str, Any]:
    waits_ms = [round(wait_s * 1e3, 3) for wait_s in finished.measured.latencies_s]
    if not waits_ms:
        return {}
    ordered = sorted(waits_ms)
    return {
        "latency_mean_ms": math.fsum(waits_ms) / len(waits_ms),
        "latency_p50_ms": at_share(ordered, 0.5),
        "latency_p95_ms": at_share(ordered, 0.95),
        "latency_p99_ms": at_share(ordered, 0.99),
        "latency_max_ms": ordered[-1],
        "latencies_ms": tuple(waits_ms),
    }
