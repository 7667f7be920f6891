"""Measuring a finished run: each module of this package, or of an instrument's `metrics`, measures some columns.

They are declared in `headway.columns`.
"""

from __future__ import annotations

from typing import Any

from headway.columns import Record
from headway.columns.gathering import gathered
from headway.diagnosis.metrics.measure import MEASURES, FinishedRun
from headway.modules import instrument_modules, modules_in

__all__ = ["FinishedRun", "run_metrics"]

modules_in(__name__)
instrument_modules("metrics")


def run_metrics(finished: FinishedRun) -> dict[str, Any]:
    """The columns of a run that ended well."""
    return gathered(MEASURES, finished, Record)
