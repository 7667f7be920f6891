"""The columns of one flow of a run."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from headway.columns import HeaderFields, MainConnection, RampUp, Status
from headway.contract.names import CONTROLS_FILE, SAMPLES_FILE
from headway.contract.outcome import Ended, Outcome
from headway.diagnosis.closing import Closing, closing_of
from headway.diagnosis.controls import observed_controls
from headway.diagnosis.disturbances import count_columns
from headway.diagnosis.dualqueue import dual_queue_columns
from headway.diagnosis.ending import came_to
from headway.diagnosis.fault import fault_columns
from headway.diagnosis.headers import header_fields
from headway.diagnosis.hostcounts import host_count_columns
from headway.diagnosis.limits import limits_of
from headway.diagnosis.mainconnection import main_connection_of
from headway.diagnosis.metrics import FinishedRun, run_metrics
from headway.diagnosis.observed import observed_columns, observed_error
from headway.diagnosis.p1203 import save_p1203
from headway.diagnosis.playback import PLAYBACK, playback_of
from headway.diagnosis.qlog import compact_qlog
from headway.diagnosis.questions import question_columns
from headway.diagnosis.rampup import ramp_up_of
from headway.diagnosis.samples import started_s
from headway.diagnosis.segment import observe
from headway.diagnosis.transfer import transfer_of
from headway.diagnosis.validation import validate, validation_columns
from headway.lab.captures import questions_file
from headway.lab.links import link
from headway.lab.run import Result
from headway.planning.deployment import DeployedFlow
from headway.planning.runs import Run
from headway.programs.measurement import Measurement
from headway.records.conditions import flow_conditions
from headway.records.runkey import setting_key
from headway.study.family import Family
from headway.study.video import Video

_SHARED_FILES = (SAMPLES_FILE, CONTROLS_FILE)
"""Which tell of all flows of a run."""


@dataclass(frozen=True)
class MeasuredFlow:
    """A flow of a run that was carried out.

    Attributes:
        flow: the flow.
        measured: what its client says.
        columns: its conditions, how it ended, and what was measured, by columns of a record.
    """

    flow: DeployedFlow
    measured: Measurement
    columns: Mapping[str, Any]

    @property
    def begin_s(self) -> float:
        """When its client began, from the start of the workload."""
        return self.flow.start_s + self.measured.began_s

    @property
    def end_s(self) -> float:
        """When its last byte came."""
        return self.begin_s + (self.measured.total_s or 0)


def measured_flows(run: Run, result: Result, directory: Path) -> list[MeasuredFlow]:
    """The flows of a run, of which its directory tells."""
    return [
        MeasuredFlow(flow, measured, _columns(run, flow, measured, result, directory))
        for flow, measured in zip(run.deployment.flows, result.measured, strict=True)
    ]


def _columns(
    run: Run, flow: DeployedFlow, measured: Measurement, result: Result, directory: Path
) -> dict[str, Any]:
    directory, outcome = _own(directory, flow), result.outcome
    controls = observed_controls(flow, directory)
    ended = ending(result, failure(flow, measured, outcome) or controls.error)
    good = ended["status"] is Status.OK
    transfer = transfer_of(flow, measured, started_s(directory))
    transfer.save(directory)
    # Reduced qlogs have no frames.
    closing = None if good else closing_of(directory)
    compact_qlog(directory, keep=flow.setting.capture.qlog)
    workload = flow.setting.workload
    explained = good and workload.offered_load.is_controlled and not workload.uploads
    segments = observe(directory, transfer) if explained else []
    finished = FinishedRun(flow, measured, transfer, segments, directory)
    metrics = run_metrics(finished) if good else {}
    if good:
        _keep_playback(finished)
    received = metrics.get("received_bytes") or ()
    family = Family(measured.won or flow.setting.family)
    return {
        **(flow_conditions(run, flow) | controls.columns),
        "setting_key": setting_key(flow.setting, run.seed),
        "drawn_rtt_ms": flow.http_path.rtt.ms,
        **ended,
        "came_to": None if good else _came_to(came_to(flow, measured, outcome, directory), closing),
        "migrated_s": None if outcome.migrated_ns is None else outcome.migrated_ns / 1e9,
        **metrics,
        **(dict(_headers(outcome, directory)) if good else {}),
        **dict(ramp_up_of(segments, transfer, received, family) if segments else RampUp()),
        **dict(limits_of(segments, transfer)),
        **dict(main_connection_of(segments, transfer) if transfer.page else MainConnection()),
        **count_columns(flow.all_legs, outcome),
        **dual_queue_columns(flow.all_legs, outcome),
        **host_count_columns([flow], outcome),
        **fault_columns(flow, outcome, directory),
        **observed_columns(flow, outcome),
        **question_columns(flow, directory),
        **validation_columns(validate(flow, outcome, transfer, directory)),
    }


def _came_to(way: str | None, closing: Closing | None) -> str | None:
    """How far a failed flow came, and the error with which an end closed its connection."""
    return "; ".join(filter(None, (way, closing.words if closing else None))) or None


def _keep_playback(finished: FinishedRun) -> None:
    """How a video was played, if one was, for figures, for `segments.parquet`, and for models of quality."""
    video, playback = finished.flow.setting.workload, playback_of(finished)
    if playback is None or not isinstance(video, Video):
        return
    PLAYBACK.save(finished.directory, playback)
    # Models have no place for a picture that is seen at another rate.
    if video.pictures and video.is_h264 and video.live is None:
        save_p1203(finished.directory, playback, video.pictures)


def _own(directory: Path, flow: DeployedFlow) -> Path:
    """A flow's directory, with what tells of all flows of its run."""
    own = directory / flow.directory
    # A lab that was never booted has left none.
    own.mkdir(parents=True, exist_ok=True)
    asked = (questions_file(flow),) if flow.resolving else ()
    for name in (*_SHARED_FILES, *asked):
        if (directory / name).exists() and not (own / name).exists():
            link(directory / name, own / name)
    return own


def ending(result: Result, error: str | None) -> dict[str, Any]:
    """Columns that tell how a run or one of its flows ended, and what it took.

    Args:
        result: of the run.
        error: what is wrong with what came of it, or why its lab ended early; None if nothing.
    """
    outcome, status = result.outcome, Status(result.outcome.status)
    if status is Status.OK and error:
        status = Status.FAILED
    return {
        "status": status,
        "error": None if status is Status.OK else error,
        **(asdict(outcome.spins) if outcome.spins else {}),
        "virtual_s": outcome.duration_ns / 1e9,
        "wall_s": round(result.wall_s, 4),
        "processor_s": round(result.processor_s, 4),
    }


def failure(flow: DeployedFlow, measured: Measurement, outcome: Outcome) -> str | None:
    """Why a flow has failed, by how its lab ended, what its client says and what crossed its path."""
    own = [ended for ended in outcome.ended if ended.namespace == flow.asked.namespace]
    error = outcome.reason or killed(own) or measured.error
    return error or observed_error(flow, measured, outcome)


def killed(ended: Iterable[Ended]) -> str | None:
    """Which program of the workload a signal ended, if any."""
    for process in ended:
        if process.exit_status < 0 and not process.as_ordered:
            return f"{process.name} was killed by {signal.Signals(-process.exit_status).name}"
    return None


def _headers(outcome: Outcome, directory: Path) -> HeaderFields:
    began_s = started_s(directory)
    # Without samples nothing tells when it began; then it had its lab for itself.
    ended_s = began_s + outcome.duration_ns / 1e9 if began_s else inf
    return header_fields(directory, began_s, ended_s)
