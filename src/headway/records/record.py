"""From a run and its result to a record; of flows that have names, to one of each, too."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from headway.columns import Record, Status
from headway.diagnosis.departures import keep_departures
from headway.diagnosis.disturbances import count_columns
from headway.diagnosis.hostcounts import host_count_columns
from headway.diagnosis.samples import read_samples
from headway.errors import HeadwayError
from headway.lab.run import Result
from headway.planning.runs import Run
from headway.records.conditions import conditions
from headway.records.flowfile import FLOW_RECORDS, FlowRecords
from headway.records.flows import columns_together, flow_records, joint_failure
from headway.records.oneflow import ending, measured_flows
from headway.records.runkey import run_key
from headway.records.sharing import together

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
    try:
        return _record(run, result, directory, same_as)
    except _UNREADABLE as error:
        if not any(end.adapter.outside for end in run.deployment.programs):
            raise
        return _spoilt(run, result, error, same_as)


def _record(run: Run, result: Result, directory: Path, same_as: str | None) -> Record:
    """What its flows were together; a run whose study names no flows is what its only one was."""
    keep_departures(run.deployment, directory)
    flows = measured_flows(run, result, directory)
    if not run.setting.flows:
        (only,) = flows
        return Record(**only.columns, same_as=same_as)
    shared = together(flows, read_samples(directory))
    records = flow_records(flows, shared, same_as)
    FLOW_RECORDS.save(directory, FlowRecords(records))
    own = ending(result, joint_failure(result, flows))
    good = own["status"] is Status.OK
    return Record(
        **_planned(run),
        **own,
        **(columns_together(flows, records, shared) if good else {}),
        **count_columns(run.deployment.legs, result.outcome),
        **host_count_columns(run.deployment.flows, result.outcome),
        same_as=same_as,
    )


def _spoilt(run: Run, result: Result, error: Exception, same_as: str | None) -> Record:
    """The record of a run of which something cannot be read that the lab or its host wrote."""
    reason = " ".join(str(error).split()) or type(error).__name__
    own = ending(result, f"a program has spoilt the run's directory: {reason[:_SHOWN]}")
    return Record(**_planned(run), **{**own, "status": Status.FAILED}, same_as=same_as)


def _planned(run: Run) -> dict[str, Any]:
    return {
        **conditions(run),
        "setting_key": run_key(run),
        "drawn_rtt_ms": min(flow.http_path.rtt.ms for flow in run.deployment.flows),
    }
