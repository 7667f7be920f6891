"""Columns of ``runs.parquet``, each declared once: what a run was, and what was measured of it."""

from headway.columns.column import (
    Better,
    Column,
    Columns,
    Of,
    Ranking,
    columns_of,
    metrics_of,
    schema_of,
)
from headway.columns.headers import HeaderFields
from headway.columns.limits import Limits, MainConnection, RampUp
from headway.columns.outcome import Status
from headway.columns.page import Page
from headway.columns.record import METRICS, Record, polars_schema

__all__ = [
    "METRICS",
    "Better",
    "Column",
    "Columns",
    "HeaderFields",
    "Limits",
    "MainConnection",
    "Of",
    "Page",
    "RampUp",
    "Ranking",
    "Record",
    "Status",
    "columns_of",
    "metrics_of",
    "polars_schema",
    "schema_of",
]
