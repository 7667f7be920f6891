"""Columns that a run has before it is carried out: what its flows meet, and what they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.diagnosis.disturbances import named_disturbances
from headway.diagnosis.transfer import narrowest
from headway.planning.deployment import DeployedFlow, Endpoint, joined
from headway.planning.runs import Run
from headway.records.hosts import host_columns
from headway.records.pathcolumn import in_common, path_column
from headway.study.host import Protocol
from headway.study.path import Direction, Path
from headway.study.setting import Setting
from headway.study.workload import Download


def conditions(run: Run) -> dict[str, Any]:
    """Conditions that all flows of a run have, or what each has, in words."""
    each = [flow_conditions(run, flow) for flow in run.deployment.flows]
    # Pages have some of which other workloads know nothing.
    names = dict.fromkeys(name for values in each for name in values)
    return {
        **{name: _in_common([values[name] for values in each if name in values]) for name in names},
        "tls": all(values["tls"] for values in each),
        "rtt_ms": min(values["rtt_ms"] for values in each),
        "requests": sum(values["requests"] for values in each),
        "path": in_common([values["path"] for values in each]),
        "disturbances": named_disturbances(
            run.setting.network.crossed, [flow.asked.protocol for flow in run.deployment.flows]
        ),
        **({"flows": len(each)} if run.setting.flows else {}),
    }


def _in_common(values: Sequence[Any]) -> Any:
    """The value of all; of different texts each once, of other values none."""
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return different[0]
    texts = [value for value in different if isinstance(value, str)]
    return ", ".join(texts) if len(texts) == len(different) else None


def flow_conditions(run: Run, flow: DeployedFlow) -> dict[str, Any]:
    """Conditions of one flow of a run."""
    setting, end = flow.setting, flow.http_end
    stated = flow.stated.paths
    path, behind = joined(stated[:end]), stated[end:]
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
        **host_columns(flow),
        **_upstream(flow.server, behind),
        "profile": path.profile,
        "path": path_column(flow, path, behind),
        "rate_mbit": _rate_mbit(narrow),
        "rate_up_mbit": _rate_mbit(narrow_up),
        "rtt_ms": path.rtt.ms,
        "loss_pct": _loss_pct(down),
        "loss_up_pct": _loss_pct(up),
        "loss_burst": max(direction.loss.burst for direction in down),
        "jitter_ms": sum(direction.jitter.ms for direction in down),
        "family": setting.family.value,
        "offload": setting.offload,
        "queue_bytes": _queue_bytes(narrow, stated),
        "visit": setting.discovery.visit if setting.discovery else None,
        "workload": _workload(flow),
        **setting.workload.replay.columns,
        "size_bytes": _size_bytes(setting),
        "requests": setting.workload.requests,
        "rep": run.rep,
        "seed": run.seed,
        "clock": setting.clock.value,
        "variation": setting.variation.value,
        "disturbances": named_disturbances(filter(None, stated), [setting.protocol]),
        "fault": str(setting.fault) if setting.fault else None,
    }


def _workload(flow: DeployedFlow) -> str:
    """The workload in words: what a client from outside does without a body is its own affair, an upload perhaps."""
    workload = flow.setting.workload
    bodiless = isinstance(workload, Download) and not workload.size
    if bodiless and flow.client.outside:
        return "request without a download"
    return str(workload)


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


def _size_bytes(setting: Setting) -> int | None:
    size = setting.workload.amount
    return None if size is None else int(size)


def _rate_mbit(direction: Direction) -> float | None:
    return direction.first_rate.mbit if direction.first_rate is not None else None


def _queue_bytes(direction: Direction, paths: Sequence[Path | None]) -> int | None:
    if direction.first_rate is None or direction.queue.packets is not None:
        return None
    # A BDP is one of the path that the link belongs to.
    rtt = next(
        path.rtt for path in paths if path and any(link.down is direction for link in path.links)
    )
    return direction.queue_bytes(rtt)


def _loss_pct(directions: list[Direction]) -> float:
    passed = 1.0
    for direction in directions:
        passed *= 1 - direction.loss.mean
    return round((1 - passed) * 100, 9)
