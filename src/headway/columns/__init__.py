"""Columns of ``runs.parquet``, each declared once: what a run was, and what was measured of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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

_OF_THE_RECORD = ("METRICS", "Record", "polars_schema")


def __getattr__(name: str) -> Any:
    """The record, made when it is first used: it has the columns of instruments, which are declared with this package."""
    if name not in _OF_THE_RECORD:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headway.columns import record

    return getattr(record, name)
