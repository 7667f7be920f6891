"""Validation: what a run's own packets tell of its path, beside what was configured."""

from headway.diagnosis.validation.columns import validation_columns
from headway.diagnosis.validation.evidence import Crossing, Echoes, Evidence, Rates, load_evidence
from headway.diagnosis.validation.judge import judge
from headway.diagnosis.validation.run import validate

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
