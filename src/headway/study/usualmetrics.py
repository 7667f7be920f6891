"""Metrics that a study is about unless it names some, by what its runs carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_FLOWS = (
    "delay_p95_ms",
    "datagrams_lost_pct",
    "jain_index",
    "first_ratio",
    "first_mbit",
    "utilisation",
    "queue_delay_ms",
)
"""What flows that compete are compared by."""
_OF_PAGES = ("plt_s", "fcp_s", "speed_index_s")
_OF_UNPAINTED_PAGES = ("plt_s", "fcp_s")
_OF_KINDS = {
    "page": _OF_PAGES,
    "call": ("delay_p95_ms", "datagrams_lost_pct"),
    "video": ("video_bitrate_mbit", "video_stalled_s", "video_start_s"),
    "stream": ("stream_delay_p99_ms", "stream_stalled_ms"),
    "messages": ("latency_p99_ms", "latency_p50_ms"),
}
"""What workloads are compared by whose own time says nothing: it is stated, or that of their player."""


def usual_metrics(experiment: Mapping[str, Any]) -> tuple[str, ...]:
    """The metrics of an experiment, as written in the file, that names none; empty for those of all others."""
    if has_flows(experiment):
        return _OF_FLOWS
    workloads = _workloads(experiment)
    # As text, since whoever wrote a list in its place is answered when kinds are checked.
    kinds = {str(workload.get("kind")) for workload in workloads}
    if len(kinds) != 1:
        return ()
    metrics = _OF_KINDS.get(kinds.pop(), ())
    is_painted = all(workload.get("frames", True) for workload in workloads)
    return metrics if is_painted or metrics is not _OF_PAGES else _OF_UNPAINTED_PAGES


def _workloads(experiment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The workloads of an experiment, if all of them are tables."""
    axes, conditions = experiment.get("axes"), experiment.get("conditions")
    varied = axes.get("workload") if isinstance(axes, dict) else None
    usual = [conditions.get("workload")] if isinstance(conditions, dict) else []
    workloads = varied if isinstance(varied, list | tuple) else usual
    tables = [workload for workload in workloads if isinstance(workload, dict)]
    return tables if len(tables) == len(workloads) else []


def has_flows(experiment: Mapping[str, Any]) -> bool:
    """Whether a setting of an experiment has flows."""
    contenders = experiment.get("contenders")
    named = contenders.values() if isinstance(contenders, dict) else ()
    settings = [experiment.get("conditions"), *named]
    return any(isinstance(setting, dict) and bool(setting.get("flows")) for setting in settings)
