"""Claims as Lighthouse CI writes its assertions: a list in JSON, for tools that read ``assertion-results.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from headway.analysis import Analysis
from headway.analysis.claim_estimate import Finding, Judgement
from headway.analysis.claims import Judged
from headway.analysis.claimwords import judged
from headway.columns import METRICS
from headway.study.claim import Gap

_AUDITS = {
    "cls": ("cumulative-layout-shift", 1),
    "fcp_s": ("first-contentful-paint", 1000),
    "inp_ms": ("interaction-to-next-paint", 1),
    "interactive_s": ("interactive", 1000),
    "lcp_s": ("largest-contentful-paint", 1000),
    "response_start_s": ("server-response-time", 1000),
    "speed_index_s": ("speed-index", 1000),
    "tbt_ms": ("total-blocking-time", 1),
}
"""Lighthouse's names of metrics, and what makes a value one of its: its times are in milliseconds."""


def claims_as_assertions(everything: Sequence[Sequence[Analysis]]) -> str:
    """An assertion for each limit of each claim in each of its cells."""
    values = [
        assertion
        for analyses in everything
        for judged_claim in judged(analyses)
        for finding in judged_claim.findings
        for assertion in _assertions(judged_claim, finding, analyses[0].experiment.metrics[0])
    ]
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _assertions(
    judged_claim: Judged, finding: Finding, first_metric: str
) -> Iterator[dict[str, Any]]:
    metric = judged_claim.claim.metric or first_metric
    audit, factor = _AUDITS.get(metric, (metric, 1))
    ranking = METRICS[metric].ranking if metric in METRICS else None
    if isinstance(judged_claim.claim.rule, Gap):
        factor = 1
    for name, operator, limit in (
        ("minNumericValue", ">=", finding.region.low),
        ("maxNumericValue", "<=", finding.region.high),
    ):
        if not math.isfinite(limit):
            continue
        value = finding.value
        known = value is not None and math.isfinite(value)
        actual = value * factor if known and value is not None else None
        yield {
            "name": name,
            "operator": operator,
            "expected": limit * factor,
            "actual": actual,
            "values": [] if actual is None else [actual],
            "passed": finding.judgement is Judgement.HOLDS,
            "level": "warn" if finding.judgement is Judgement.UNDECIDED else "error",
            "auditId": audit,
            "auditTitle": ranking.label if ranking else metric,
            "message": judged_claim.claim.says,
            "url": finding.what,
        }
