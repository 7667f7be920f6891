"""From a run of one flow and its result to a record."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path as Directory
from typing import Any

from headway.columns import HeaderFields, MainConnection, RampUp, Record, Status
from headway.contract.orders import Outcome
from headway.diagnosis.controls import observed_controls
from headway.diagnosis.disturbances import count_columns, named_disturbances
from headway.diagnosis.ending import came_to
from headway.diagnosis.fault import fault_columns
from headway.diagnosis.headers import header_fields
from headway.diagnosis.hostcounts import host_count_columns
from headway.diagnosis.limits import limits_of
from headway.diagnosis.mainconnection import main_connection_of
from headway.diagnosis.metrics import FinishedRun, run_metrics
from headway.diagnosis.observed import observed_columns, observed_error
from headway.diagnosis.qlog import compact_qlog
from headway.diagnosis.rampup import ramp_up_of
from headway.diagnosis.samples import started_s
from headway.diagnosis.segment import observe
from headway.diagnosis.transfer import narrowest, transfer_of
from headway.diagnosis.validation import validate, validation_columns
from headway.lab.run import Result
from headway.planning.deployment import Deployment, Endpoint, joined
from headway.planning.runs import Run
from headway.records.hosts import host_columns
from headway.records.runkey import run_key
from headway.study.host import Protocol
from headway.study.model import Setting
from headway.study.path import Direction, Path
from headway.study.workload import Download, Page


def record_of(run: Run, result: Result, directory: Directory) -> Record:
    """Combine a run's conditions, its outcome and its measurements."""
    measured, deployment = result.measurement, run.deployment
    controls = observed_controls(deployment, directory)
    error = failure(deployment, result) or controls.error
    status = _status(result.outcome, error)
    good = status is Status.OK
    transfer = transfer_of(deployment, measured, started_s(directory))
    transfer.save(directory)
    compact_qlog(directory, keep=run.setting.capture.qlog)
    workload = run.setting.workload
    explained = good and workload.is_controlled and not workload.uploads
    segments = observe(directory, transfer) if explained else []
    finished = FinishedRun(deployment, measured, transfer, segments, directory)
    metrics = run_metrics(finished) if good else {}
    return Record(
        **(conditions_of(run) | controls.columns),
        setting_key=run_key(run),
        drawn_rtt_ms=deployment.http_path.rtt.ms,
        status=status,
        error=None if good else error,
        came_to=None if good else came_to(deployment, measured, result.outcome, directory),
        migrated_s=_seconds(result.outcome.migrated_ns),
        **(asdict(result.outcome.spins) if result.outcome.spins else {}),
        virtual_s=result.outcome.duration_ns / 1e9,
        wall_s=round(result.wall_s, 4),
        **metrics,
        **(dict(_headers(result, directory)) if good else {}),
        **dict(
            ramp_up_of(segments, transfer, metrics["received_bytes"] or (), run.setting.family)
            if segments
            else RampUp()
        ),
        **dict(limits_of(segments, transfer)),
        **dict(main_connection_of(segments, transfer) if transfer.page else MainConnection()),
        **count_columns(deployment, result.outcome),
        **host_count_columns(deployment, result.outcome),
        **fault_columns(deployment, result.outcome, directory),
        **observed_columns(deployment, result.outcome),
        **validation_columns(validate(deployment, result, transfer, directory)),
    )


def _status(outcome: Outcome, error: str | None) -> Status:
    status = Status(outcome.status)
    return Status.FAILED if status is Status.OK and error else status


def failure(deployment: Deployment, result: Result) -> str | None:
    """Why a flow's run has failed, by how its lab ended, what its client says and what crossed its path."""
    outcome, measured = result.outcome, result.measurement
    error = outcome.reason or killed(outcome) or measured.error
    return error or observed_error(deployment, measured, outcome)


def _headers(result: Result, directory: Directory) -> HeaderFields:
    began_s = started_s(directory)
    # Without samples nothing tells when it began; then it had its lab for itself.
    ended_s = began_s + result.outcome.duration_ns / 1e9 if began_s else inf
    return header_fields(directory, began_s, ended_s)


def killed(outcome: Outcome) -> str | None:
    """Which program of the workload a signal ended, if any."""
    for ended in outcome.ended:
        if ended.exit_status < 0 and not ended.as_ordered:
            return f"{ended.name} was killed by {signal.Signals(-ended.exit_status).name}"
    return None


def _workload(deployment: Deployment) -> str:
    """The workload in words: what a client from outside does without a body is its own affair, an upload perhaps."""
    workload = deployment.setting.workload
    bodiless = isinstance(workload, Download) and not workload.size
    if bodiless and deployment.client.outside:
        return "request without a download"
    return str(workload)


def _seconds(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / 1e9


def conditions_of(run: Run) -> dict[str, Any]:
    """Columns that a run has before it is carried out."""
    setting, end = run.setting, run.deployment.http_end
    path, behind = joined(setting.paths[:end]), setting.paths[end:]
    down = [link.down for link in path.links]
    up = [link.up for link in path.links]
    narrow, narrow_up = narrowest(down), narrowest(up)
    return {
        "run_id": run.run_id,
        "study": run.study,
        "experiment": run.experiment,
        "cell": run.cell,
        "contender": run.contender,
        "protocol": setting.protocol.value,
        "tls": setting.tls and setting.protocol is not Protocol.UDP,
        **host_columns(run.deployment),
        **_upstream(run.deployment.server, behind),
        "profile": path.profile,
        "rate_mbit": _rate_mbit(narrow),
        "rate_up_mbit": _rate_mbit(narrow_up),
        "rtt_ms": path.rtt.ms,
        "loss_pct": _loss_pct(down),
        "loss_up_pct": _loss_pct(up),
        "loss_burst": max(direction.loss.burst for direction in down),
        "jitter_ms": sum(direction.jitter.ms for direction in down),
        "family": setting.family.value,
        "offload": setting.offload,
        "queue_bytes": _queue_bytes(narrow, setting),
        "workload": _workload(run.deployment),
        **_page(setting),
        "size_bytes": _size_bytes(setting),
        "requests": setting.workload.requests,
        "rep": run.rep,
        "seed": run.seed,
        "clock": setting.clock.value,
        "variation": setting.variation.value,
        "disturbances": named_disturbances(setting),
        "fault": str(setting.fault) if setting.fault else None,
    }


def _upstream(server: Endpoint, paths: Sequence[Path | None]) -> dict[str, Any]:
    """What lies behind a reverse proxy, if there is one."""
    if not paths:
        return {}
    path = joined(paths)
    down = [link.down for link in path.links]
    return {
        "upstream_protocol": server.protocol.value,
        "upstream_rate_mbit": _rate_mbit(narrowest(down)),
        "upstream_rtt_ms": path.rtt.ms,
        "upstream_loss_pct": _loss_pct(down),
    }


def _page(setting: Setting) -> dict[str, Any]:
    """How a page is loaded, if one is."""
    page = setting.workload
    if not isinstance(page, Page):
        return {}
    return {
        "device": page.device.value,
        "cache": page.cache.value,
        "origins": page.origins.value,
        "page_connections": page.connections.value,
    }


def _size_bytes(setting: Setting) -> int | None:
    size = setting.workload.amount
    return None if size is None else int(size)


def _rate_mbit(direction: Direction) -> float | None:
    return direction.first_rate.mbit if direction.first_rate is not None else None


def _queue_bytes(direction: Direction, setting: Setting) -> int | None:
    if direction.first_rate is None or direction.queue.packets is not None:
        return None
    # A BDP is one of the path that the link belongs to.
    rtt = next(
        path.rtt
        for path in setting.paths
        if path and any(link.down is direction for link in path.links)
    )
    return direction.queue.limit_bytes(direction.first_rate, rtt)


def _loss_pct(directions: list[Direction]) -> float:
    passed = 1.0
    for direction in directions:
        passed *= 1 - direction.loss.mean
    return round((1 - passed) * 100, 9)
