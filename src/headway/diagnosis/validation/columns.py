"""Columns of a run's record about its validation."""

from __future__ import annotations

import statistics
from typing import Any

from headway.diagnosis.validation.evidence import Evidence
from headway.diagnosis.validation.judge import judge, verdict


def validation_columns(evidence: Evidence | None) -> dict[str, Any]:
    """Columns of the record; none for a run that was not validated."""
    if evidence is None:
        return {}
    columns: dict[str, Any] = {"validation": verdict(judge([evidence]))}
    if evidence.echoes:
        columns["control_lost"] = evidence.echoes.sent - len(evidence.echoes.rtts_ms)
        if rtts_ms := evidence.echoes.rtts_ms:
            columns["control_rtt_ms"] = statistics.median(rtts_ms)
            columns["control_rtt_min_ms"] = min(rtts_ms)
            columns["control_rtt_max_ms"] = max(rtts_ms)
    return columns
