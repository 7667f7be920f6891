"""Columns of ``runs.parquet``, each declared once: what a run was, and what was measured of it."""

from headway.columns.call import CallMetrics
from headway.columns.column import (
    Better,
    Column,
    Columns,
    Naming,
    Needs,
    Of,
    Ranking,
    columns_of,
    metrics_of,
    schema_of,
)
from headway.columns.headers import HeaderFields
from headway.columns.limits import FlightLimit, MainConnection, RampUp, TransferLimits
from headway.columns.outcome import OF_THE_MACHINE, Status
from headway.columns.pacing import LONGEST_BURST
from headway.columns.page import PageMetrics
from headway.columns.record import METRICS, Record, polars_schema

__all__ = [
    "LONGEST_BURST",
    "METRICS",
    "OF_THE_MACHINE",
    "Better",
    "CallMetrics",
    "Column",
    "Columns",
    "FlightLimit",
    "HeaderFields",
    "MainConnection",
    "Naming",
    "Needs",
    "Of",
    "PageMetrics",
    "RampUp",
    "Ranking",
    "Record",
    "Status",
    "TransferLimits",
    "columns_of",
    "metrics_of",
    "polars_schema",
    "schema_of",
]
