"""Flows that have names: a record of each, as if it had been a run by itself, and columns of what they were together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headway.columns import CallMetrics, columns_of
from headway.columns.page import PageMetrics
from headway.columns.record import FlowRecord
from headway.diagnosis.goodput import received_bytes
from headway.lab.run import Result
from headway.planning.deployment import DeployedFlow
from headway.programs.measurement import Measurement
from headway.records.oneflow import killed
from headway.records.sharing import Sharer, Together


def flow_records(
    flows: Sequence[DeployedFlow],
    measured: Sequence[Measurement],
    columns: Sequence[Mapping[str, Any]],
    together: Together,
    same_as: str | None,
) -> tuple[FlowRecord, ...]:
    """A record of every flow of a run.

    Args:
        flows: the flows.
        measured: what their clients say.
        columns: of each by itself.
        together: what they were together.
        same_as: the run that was carried out for this one, if another was.
    """
    failed = next((name for name, _ in _errors(flows, measured)), None)
    sharers = together.sharers or (None,) * len(flows)
    return tuple(
        FlowRecord(
            **own,
            flow=flow.asked.name,
            named=flow.named,
            background=flow.asked.background,
            client_host=flow.asked.namespace,
            server_host=flow.asked.server,
            start_s=flow.start_s,
            end_s=flow.end_s,
            **(_part(together, sharer) if sharer else {}),
            **_completions(told),
            disturbed_by=failed if failed != flow.asked.name else None,
            same_as=same_as,
        )
        for flow, told, own, sharer in zip(flows, measured, columns, sharers, strict=True)
    )


def _errors(
    flows: Sequence[DeployedFlow], measured: Sequence[Measurement]
) -> list[tuple[str, str]]:
    """The flows whose clients failed, and why."""
    each = zip(flows, measured, strict=True)
    return [(flow.asked.name, told.error) for flow, told in each if told.error]


def _part(together: Together, sharer: Sharer) -> dict[str, Any]:
    """A flow's part in what they were together; one in the background has a goodput only."""
    mbit = together.mbit(sharer)
    if sharer.background:
        return {"common_mbit": mbit}
    return {
        "common_mbit": mbit,
        "share": together.share(sharer),
        "fair_mbit": sharer.fair_mbit,
        "fair_share": together.fair_share(sharer),
    }


def _completions(measured: Measurement) -> dict[str, Any]:
    """How long each of several transfers took."""
    if measured.error or len(measured.flows) < 2 or len(measured.each_s) != len(measured.flows):
        return {}
    starts = (flow.start_s - measured.began_s for flow in measured.flows)
    took = [end_s - start_s for end_s, start_s in zip(measured.each_s, starts, strict=True)]
    median, late = np.quantile(took, [0.5, 0.95])
    return {"completion_p50_s": float(median), "completion_p95_s": float(late)}


def joint_failure(
    flows: Sequence[DeployedFlow], result: Result, records: Sequence[FlowRecord]
) -> str | None:
    """Why a run has failed: its lab, or the first flow whose client says so, or of which anything else does."""
    own = [(one.flow, one.error) for one in records if one.error]
    wrong = [f"{name}: {error}" for name, error in (*_errors(flows, result.measured), *own)]
    return result.outcome.reason or killed(result.outcome.ended) or next(iter(wrong), None)


def columns_together(
    flows: Sequence[DeployedFlow],
    measured: Sequence[Measurement],
    records: Sequence[FlowRecord],
    shared: Together,
) -> dict[str, Any]:
    """What flows that ended well were together; times are from the start of the workload."""
    each = list(zip(flows, measured, strict=True))
    ends = tuple(flow.start_s + told.began_s + (told.total_s or 0) for flow, told in each)
    bulk = [
        replace(one, start_s=one.start_s + flow.start_s)
        for flow, told in each
        for one in told.flows
    ]
    # Nobody tells the size of a flow that was ended.
    sizes = [told.bytes for told in measured if told.bytes is not None]
    size, total_s = sum(sizes) if len(sizes) == len(measured) else None, max(ends)
    return {
        "total_s": total_s,
        "each_s": ends,
        "bytes": size,
        "goodput_mbit": size * 8e-6 / total_s if size and total_s else None,
        "received_bytes": received_bytes(bulk, 0) if bulk else None,
        **shared.columns,
        **_worst_calls(records),
        **_slowest_page(records),
    }


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
