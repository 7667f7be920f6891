"""From a run and its result to a record."""

from __future__ import annotations

import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.guest.orders import Outcome
from headway.lab.run import Result
from headway.programs import adapters_of
from headway.results.limits import Limits, find_limits
from headway.results.qlog import compact_qlog
from headway.results.schema import Record, Status
from headway.results.transfer import narrowest, transfer_of
from headway.study.model import Protocol, Setting
from headway.study.path import Direction
from headway.study.plan import Run

_USUAL_WINDOW = 10
"""Initial window of Linux's TCP, segments (RFC 6928)."""


def make_record(run: Run, result: Result, directory: Path) -> Record:
    """Combine a run's conditions, its outcome and its measurements."""
    measured = result.measurement
    error = result.outcome.reason or _killed(result.outcome) or measured.error
    status = Status(result.outcome.status)
    if status is Status.OK and error:
        status = Status.FAILED
    good = status is Status.OK
    transfer = transfer_of(run.setting, result.network, measured)
    transfer.save(directory)
    compact_qlog(directory, keep=run.setting.capture.qlog)
    limits = find_limits(directory, transfer) if good else Limits()
    total = measured.total_s if good else None
    return Record(
        **conditions(run),
        status=status,
        error=None if good else error,
        connect_s=measured.connect_s if good else None,
        tls_s=measured.tls_s if good else None,
        ttfb_s=measured.ttfb_s if good else None,
        total_s=total,
        each_s=measured.each_s if good else (),
        migrated_s=_seconds(result.outcome.migrated_ns),
        bytes=measured.bytes if good else None,
        goodput_mbit=measured.bytes * 8e-6 / total if measured.bytes and total else None,
        virtual_s=result.outcome.duration_ns / 1e9,
        wall_s=round(result.wall_s, 4),
        **asdict(limits),
    )


def _killed(outcome: Outcome) -> str | None:
    """Which program of the workload a signal ended, if any."""
    for ended in outcome.ended:
        if ended.exit_status < 0:
            return f"{ended.name} was killed by {signal.Signals(-ended.exit_status).name}"
    return None


def _seconds(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / 1e9


def conditions(run: Run) -> dict[str, Any]:
    """Columns that a run has before it is carried out."""
    setting = run.setting
    down = [link.down for link in setting.path.links]
    up = [link.up for link in setting.path.links]
    narrow, narrow_up = narrowest(down), narrowest(up)
    return {
        "run_id": run.run_id,
        "study": run.study,
        "experiment": run.experiment,
        "cell": run.cell,
        "contender": run.contender,
        "protocol": setting.protocol.value,
        "tls": setting.tls,
        **_hosts(setting),
        **_upstream(setting),
        "profile": setting.path.profile,
        "rate_mbit": _rate_mbit(narrow),
        "rate_up_mbit": _rate_mbit(narrow_up),
        "rtt_ms": setting.path.rtt.ms,
        "loss_pct": _loss_pct(down),
        "loss_up_pct": _loss_pct(up),
        "loss_burst": max(direction.loss.burst for direction in down),
        "jitter_ms": sum(direction.jitter.ms for direction in down),
        "offload": setting.offload,
        "queue_bytes": _queue_bytes(narrow, setting),
        "workload": str(setting.workload),
        "size_bytes": int(setting.workload.size),
        "requests": setting.workload.requests,
        "rep": run.rep,
        "seed": run.seed,
        "clock": setting.clock.value,
    }


def _hosts(setting: Setting) -> dict[str, Any]:
    """Programs, congestion controls and initial windows."""
    hosts: dict[str, Any] = {}
    roles = ("client", "proxy", "server") if setting.proxy else ("client", "server")
    for role, (adapter, host, protocol) in zip(roles, adapters_of(setting), strict=True):
        quic = protocol is Protocol.H3
        hosts[role] = adapter.name
        hosts[f"{role}_cc"] = (
            adapter.quic_congestion_control(host) if quic else host.congestion_control.value
        )
        if role != "proxy":
            hosts[f"{role}_iw"] = None if quic else (host.initial_window or _USUAL_WINDOW)
    return hosts


def _upstream(setting: Setting) -> dict[str, Any]:
    if setting.proxy is None:
        return {}
    path = setting.proxy.upstream.path
    down = [link.down for link in path.links]
    return {
        "upstream_protocol": setting.proxy.upstream.protocol.value,
        "upstream_rate_mbit": _rate_mbit(narrowest(down)),
        "upstream_rtt_ms": path.rtt.ms,
        "upstream_loss_pct": _loss_pct(down),
    }


def _rate_mbit(direction: Direction) -> float | None:
    return direction.first_rate.mbit if direction.first_rate is not None else None


def _queue_bytes(direction: Direction, setting: Setting) -> int | None:
    if direction.first_rate is None or direction.queue.packets is not None:
        return None
    return direction.queue.limit_bytes(direction.first_rate, setting.path.rtt)


def _loss_pct(directions: list[Direction]) -> float:
    passed = 1.0
    for direction in directions:
        passed *= 1 - direction.loss.mean
    return round((1 - passed) * 100, 9)
