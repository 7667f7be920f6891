"""Validation: what a run's own packets tell of its path, beside what was configured."""

from headway.results.validation.columns import validation_columns
from headway.results.validation.evidence import Crossing, Echoes, Evidence, Rates, load_evidence
from headway.results.validation.judge import judge
from headway.results.validation.run import validate

__all__ = [
    "Crossing",
    "Echoes",
    "Evidence",
    "Rates",
    "judge",
    "load_evidence",
    "validate",
    "validation_columns",
]
