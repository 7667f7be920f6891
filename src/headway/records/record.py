"""From a run and its result to a record; of flows that have names, to one of each, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from headway.columns import Record, Status, polars_schema, schema_of
from headway.columns.record import FlowRecord
from headway.diagnosis.departures import keep_departures
from headway.diagnosis.disturbances import count_columns
from headway.diagnosis.dualqueue import dual_queue_columns
from headway.diagnosis.hostcounts import host_count_columns
from headway.diagnosis.samples import read_samples
from headway.lab.run import Result
from headway.lab.spoilt import spoilt_by_program
from headway.planning.runs import Run
from headway.records.conditions import conditions
from headway.records.flowfile import FLOW_RECORDS, FlowRecords
from headway.records.flows import columns_together, flow_records, joint_failure
from headway.records.oneflow import ending, measured_flows
from headway.records.runkey import run_key
from headway.records.sharing import together


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
        record = _record(run, result, directory, same_as)
        if any(end.adapter.outside for end in run.deployment.programs):
            flows = FLOW_RECORDS.load(directory).flows if record.flows else ()
            _check_storable([record], polars_schema())
            _check_storable(flows, schema_of(FlowRecord))
        return record
    except Exception as error:
        reason = spoilt_by_program(error, run.deployment, directory)
        return _failed(run, result, reason, same_as)


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
        **dual_queue_columns(run.deployment.legs, result.outcome),
        **host_count_columns(run.deployment.flows, result.outcome),
        same_as=same_as,
    )


def _check_storable(records: Sequence[BaseModel], schema: Mapping[str, Any]) -> None:
    """Let numbers and texts that a program chose fit where records are kept.

    Args:
        records: of a run, or of its flows.
        schema: of their table.

    Raises:
        ValueError, OverflowError, PolarsError: they do not.
    """
    import polars as pl

    for record in records:
        type(record).model_validate_json(record.model_dump_json().encode())
    rows = [record.model_dump(mode="json") for record in records]
    pl.DataFrame(rows, schema=schema, orient="row")


def _failed(run: Run, result: Result, reason: str, same_as: str | None) -> Record:
    """The record of a run of which something cannot be read that the lab or its host wrote."""
    # Its counts of busy waits may be a program's, too.
    plain = replace(result, outcome=replace(result.outcome, spins=None))
    own = {**ending(plain, reason), "status": Status.FAILED}
    return Record(**_planned(run), **own, same_as=same_as)


def _planned(run: Run) -> dict[str, Any]:
    return {
        **conditions(run),
        "setting_key": run_key(run),
        "drawn_rtt_ms": min(flow.http_path.rtt.ms for flow in run.deployment.flows),
    }
