"""Results as JSON; equal verdicts give equal bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from headway.instruments.conformance.case import ConformanceCase
from headway.instruments.conformance.verdict import (
    CheckedNumber,
    ConformanceResult,
    ConformanceVerdict,
)


def result_json(
    cases: Sequence[ConformanceCase], verdicts: Sequence[ConformanceVerdict], seed: int
) -> str:
    """The text of ``result.json``: the cases, the verdicts with their numbers, and how many of each there are."""
    document = {
        "seed": seed,
        "cases": [
            {
                "name": case.name,
                "family": case.family.value,
                "source": case.source,
                "description": case.description,
            }
            for case in cases
        ],
        "counts": counts(verdicts),
        "verdicts": [_verdict(verdict) for verdict in verdicts],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def counts(verdicts: Sequence[ConformanceVerdict]) -> dict[str, dict[str, int]]:
    """How many verdicts of each kind every sender has."""
    names = dict.fromkeys(verdict.sender for verdict in verdicts)
    return {
        name: {
            result.value: sum(v.sender == name and v.result is result for v in verdicts)
            for result in ConformanceResult
        }
        for name in names
    }


def _verdict(verdict: ConformanceVerdict) -> dict[str, Any]:
    return {
        "case": verdict.case,
        "sender": verdict.sender,
        "result": verdict.result.value,
        "reason": verdict.reason,
        "evidence": verdict.evidence,
        "picture": verdict.picture,
        "numbers": [_number(number) for number in verdict.numbers],
    }


def _number(number: CheckedNumber) -> dict[str, Any]:
    return {
        "name": number.name,
        "value": _finite(number.value),
        "low": _finite(number.low),
        "high": _finite(number.high),
        "unit": number.unit,
        "passes": number.passes,
    }


def _finite(value: float) -> float | None:
    """As JSON may have it."""
    return round(value, 6) if math.isfinite(value) else None
