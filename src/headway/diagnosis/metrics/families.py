"""Over which family a client came to the server, and what it waited for the other one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.diagnosis.metrics.measure import FinishedRun, measure


@measure
def _families(finished: FinishedRun) -> Mapping[str, Any]:
    tried, won = finished.measured.tried, finished.measured.won
    if won is None:
        return {}
    first_s = min((attempt.at_s for attempt in tried), default=None)
    winner_s = min((attempt.at_s for attempt in tried if attempt.family == won), default=None)
    return {
        "family_tried": ", ".join(dict.fromkeys(attempt.family for attempt in tried)) or None,
        "family_won": won,
        "fallback_s": None if first_s is None or winner_s is None else winner_s - first_s,
    }
