"""From a run and its result to a record; of flows that compete, to one of each, too."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.columns import CallMetrics, Record, Status, columns_of
from headway.columns.page import PageMetrics
from headway.columns.record import FlowRecord
from headway.diagnosis.departures import keep_departures
from headway.diagnosis.disturbances import count_columns
from headway.diagnosis.goodput import received_bytes
from headway.diagnosis.hostcounts import host_count_columns
from headway.diagnosis.samples import read_samples
from headway.errors import HeadwayError
from headway.lab.run import Result
from headway.planning.runs import Run, flow_runs
from headway.records.flowfile import FLOW_RECORDS, FlowRecords
from headway.records.flows import conditions_together, flow_records
from headway.records.runkey import run_key
from headway.records.sharing import Together, together
from headway.records.singlerun import conditions_of, killed, record_of

_UNREADABLE = (HeadwayError, ValueError, TypeError, LookupError, OSError, struct.error)
"""What reading such a file may raise."""
_SHOWN = 200


def make_record(run: Run, result: Result, directory: Path, *, same_as: str | None = None) -> Record:
    """Combine a run's conditions, its outcome and its measurements.

    A program from outside may have written over what is read for that: then the run has failed.

    Args:
        run: the run.
        result: its result, or that of the run that was carried out for it.
        directory: what it left.
        same_as: that other run.
    """
    told = {"same_as": same_as}
    outside = any(end.adapter.outside for end in run.deployment.programs)
    try:
        return _record(run, result, directory, told).model_copy(update=told)
    except _UNREADABLE as error:
        if not outside:
            raise
        return _spoilt(run, result, error).model_copy(update=told)


def _record(run: Run, result: Result, directory: Path, told: dict[str, Any]) -> Record:
    keep_departures(run.deployment, directory)
    if not run.deployment.competing:
        return record_of(run, result, directory)
    shared = together(flow_runs(run), result.flows, read_samples(directory))
    flows = flow_records(run, result, shared, directory)
    flows = tuple(one.model_copy(update=told) for one in flows)
    FLOW_RECORDS.save(directory, FlowRecords(flows))
    return _record_together(run, result, flows, shared)


def _spoilt(run: Run, result: Result, error: Exception) -> Record:
    """The record of a run of which something cannot be read that the lab or its host wrote."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return Record(
        **conditions(run),
        setting_key=run_key(run),
        drawn_rtt_ms=run.deployment.http_path.rtt.ms,
        status=Status.FAILED,
        error=f"a program has spoilt the run's directory: {reason[:_SHOWN]}",
        virtual_s=result.outcome.duration_ns / 1e9,
        wall_s=round(result.wall_s, 4),
    )


def _record_together(
    run: Run, result: Result, flows: tuple[FlowRecord, ...], shared: Together
) -> Record:
    measured, outcome = result.measurement, result.outcome
    wrong = next((f"{one.flow}: {one.error}" for one in flows if one.error), None)
    error = outcome.reason or killed(outcome) or measured.error or wrong
    status = Status(outcome.status)
    if status is Status.OK and error:
        status = Status.FAILED
    good = status is Status.OK
    size, total_s = measured.bytes, measured.total_s
    done = {
        "total_s": total_s,
        "each_s": measured.each_s,
        "bytes": size,
        "goodput_mbit": size * 8e-6 / total_s if size and total_s else None,
        "received_bytes": received_bytes(measured.flows, 0) if measured.flows else None,
        **shared.columns,
        **_worst_calls(flows),
        **_slowest_page(flows),
    }
    return Record(
        **conditions(run),
        setting_key=run_key(run),
        drawn_rtt_ms=min(one.deployment.http_path.rtt.ms for one in flow_runs(run)),
        status=status,
        error=None if good else error,
        **(asdict(outcome.spins) if outcome.spins else {}),
        virtual_s=outcome.duration_ns / 1e9,
        wall_s=round(result.wall_s, 4),
        **(done if good else {}),
        **count_columns(run.deployment, outcome),
        **host_count_columns(run.deployment, outcome),
    )


def _worst_calls(flows: Sequence[FlowRecord]) -> dict[str, Any]:
    """Of every column of calls the largest value of any of the flows."""
    told = {name: [getattr(one, name) for one in flows] for name in columns_of(CallMetrics)}
    found = {name: [one for one in values if one is not None] for name, values in told.items()}
    return {name: max(values) for name, values in found.items() if values}


def _slowest_page(flows: Sequence[FlowRecord]) -> dict[str, Any]:
    """Every column of a page's load, of the flow whose page took longest."""
    loads = [one for one in flows if one.plt_s is not None]
    if not loads:
        return {}
    slowest = max(loads, key=lambda one: one.plt_s or 0)
    return {name: getattr(slowest, name) for name in columns_of(PageMetrics)}


def conditions(run: Run) -> dict[str, Any]:
    """Columns that a run has before it is carried out."""
    return conditions_together(run) if run.deployment.competing else conditions_of(run)
