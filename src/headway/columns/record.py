"""The record: one row per run, of all families of columns."""

from __future__ import annotations

from typing import Any

from headway.columns.call import CallMetrics
from headway.columns.column import metrics_of, schema_of
from headway.columns.conditions import Planned
from headway.columns.headers import HeaderFields
from headway.columns.latency import Latency
from headway.columns.limits import BottleneckUse, Causes, MainConnection, RampUp, SenderOverTime
from headway.columns.outcome import Ending, Requests, Spent, Transferred
from headway.columns.pacing import Pacing
from headway.columns.packets import Disturbed, Faulted, Observed, Validation
from headway.columns.page import PageMetrics
from headway.columns.processor import ProcessorUse
from headway.columns.sharing import OneFlow, Sharing
from headway.columns.states import SenderStates
from headway.columns.stream import StreamDelays
from headway.columns.video import VideoSession


# Pydantic takes the fields of the last family first.
class Record(
    Spent,
    Sharing,
    Validation,
    Faulted,
    Observed,
    Disturbed,
    Pacing,
    SenderStates,
    SenderOverTime,
    ProcessorUse,
    BottleneckUse,
    MainConnection,
    Causes,
    RampUp,
    Transferred,
    HeaderFields,
    VideoSession,
    StreamDelays,
    Latency,
    CallMetrics,
    PageMetrics,
    Requests,
    Ending,
    Planned,
):
    """What is kept of one run: its conditions, how it ended, and what was measured.

    Times are seconds of the lab's clock unless said otherwise; a value that was not measured
    (the run failed, or the protocol has no such thing) is null.
    """


class FlowRecord(OneFlow, Record):
    """What is kept of one of several flows: what a run by itself would have, and how it shared the path.

    Its conditions are those of its own path and programs.
    """


METRICS = metrics_of(Record)
"""The columns that a study may compare its contenders by."""


def polars_schema() -> dict[str, Any]:
    """Column names and Polars types of ``runs.parquet``, in order."""
    return schema_of(Record)
