"""The record: one row per run, of all families of columns, the core's and those of instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import create_model

from headway.columns.call import CallMetrics
from headway.columns.column import Columns, metrics_of, schema_of
from headway.columns.conditions import Planned
from headway.columns.dualqueue import DualQueue
from headway.columns.headers import HeaderFields
from headway.columns.latency import Latency
from headway.columns.limits import BottleneckUse, Causes, MainConnection, RampUp, SenderOverTime
from headway.columns.outcome import Ending, Requests, Spent, Transferred
from headway.columns.pacing import Pacing
from headway.columns.packets import Disturbed, Faulted, Observed, Validation
from headway.columns.page import PageMetrics
from headway.columns.processor import ProcessorUse
from headway.columns.sharing import OneFlow, Sharing
from headway.columns.stream import StreamDelays
from headway.columns.video import VideoSession
from headway.modules import instrument_modules


# Pydantic takes the fields of the last family first.
class _Core(
    Spent,
    Sharing,
    Validation,
    Faulted,
    Observed,
    Disturbed,
    DualQueue,
    Pacing,
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


def _families() -> tuple[type[Columns], ...]:
    """Bases of the record, each instrument's family in front of the one whose columns stand before its own."""
    families: list[Any] = list(_Core.__bases__)
    for module in instrument_modules("columns"):
        for family, before in module.FAMILIES.items():
            families.insert(families.index(before), family)
    return tuple(families)


if TYPE_CHECKING:
    Record = _Core  # The core reads no column of an instrument.
else:
    Record = create_model(
        "Record", __base__=_families(), __doc__=_Core.__doc__, __module__=__name__
    )


class FlowRecord(OneFlow, Record):
    """What is kept of one of several flows: what a run by itself would have, and how it shared the path.

    Its conditions are those of its own path and programs.
    """


METRICS = metrics_of(Record)
"""The columns that a study may compare its contenders by."""


def polars_schema() -> dict[str, Any]:
    """Column names and Polars types of ``runs.parquet``, in order."""
    return schema_of(Record)
