"""Flows that have names: a record of each, as if it had been a run by itself, and columns of what they were together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headway.columns import CallMetrics, columns_of
from headway.columns.page import PageMetrics
from headway.columns.record import FlowRecord
from headway.diagnosis.goodput import received_bytes
from headway.lab.run import Result
from headway.programs.measurement import Measurement
from headway.records.oneflow import MeasuredFlow, killed
from headway.records.sharing import Sharer, Together
from headway.records.videos import videos_together


def flow_records(
    flows: Sequence[MeasuredFlow], together: Together, same_as: str | None
) -> tuple[FlowRecord, ...]:
    """A record of every flow of a run.

    Args:
        flows: the flows.
        together: what they were together.
        same_as: the run that was carried out for this one, if another was.
    """
    failed = next((flow.flow.asked.name for flow in flows if flow.measured.error), None)
    sharers = together.sharers or (None,) * len(flows)
    return tuple(
        FlowRecord(
            **measured_flow.columns,
            flow=measured_flow.flow.asked.name,
            named=measured_flow.flow.named,
            background=measured_flow.flow.asked.background,
            client_host=measured_flow.flow.asked.namespace,
            server_host=measured_flow.flow.asked.server,
            start_s=measured_flow.flow.start_s,
            end_s=measured_flow.flow.end_s,
            **(_part(together, sharer) if sharer else {}),
            **_completions(measured_flow.measured),
            disturbed_by=failed if failed != measured_flow.flow.asked.name else None,
            same_as=same_as,
        )
        for measured_flow, sharer in zip(flows, sharers, strict=True)
    )


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


def joint_failure(result: Result, flows: Sequence[MeasuredFlow]) -> str | None:
    """Why a run has failed: its lab, or the first flow whose client says so, or of which anything else does."""
    pairs = [(flow, error) for flow in flows if (error := flow.measured.error)]
    pairs += [(flow, error) for flow in flows if (error := flow.columns["error"])]
    wrong = (f"{measured_flow.flow.asked.name}: {error}" for measured_flow, error in pairs)
    return result.outcome.reason or killed(result.outcome.ended) or next(wrong, None)


def columns_together(
    flows: Sequence[MeasuredFlow], records: Sequence[FlowRecord], shared: Together
) -> dict[str, Any]:
    """What flows that ended well were together, those aside that only load the path; times are from the start of the workload."""
    flows = [flow for flow in flows if not flow.flow.asked.background] or flows
    ends = tuple(flow.end_s for flow in flows)
    bulk = [
        replace(transfer, start_s=transfer.start_s + flow.flow.start_s)
        for flow in flows
        for transfer in flow.measured.flows
    ]
    # Nobody tells the size of a flow that was ended.
    sizes = [flow.measured.bytes for flow in flows if flow.measured.bytes is not None]
    size, total_s = sum(sizes) if len(sizes) == len(flows) else None, max(ends)
    return {
        "total_s": total_s,
        "each_s": ends,
        "bytes": size,
        "goodput_mbit": size * 8e-6 / total_s if size and total_s else None,
        "received_bytes": received_bytes(bulk, 0) if bulk else None,
        **shared.columns,
        **_worst_calls(records),
        **_slowest_page(records),
        **videos_together(records),
    }


def _worst_calls(flows: Sequence[FlowRecord]) -> dict[str, Any]:
    """Of every column of calls the largest value of any of the flows."""
    words = {name: [getattr(flow, name) for flow in flows] for name in columns_of(CallMetrics)}
    result = {
        name: [value for value in values if value is not None] for name, values in words.items()
    }
    return {name: max(values) for name, values in result.items() if values}


def _slowest_page(flows: Sequence[FlowRecord]) -> dict[str, Any]:
    """Every column of a page's load, of the flow whose page took longest."""
    loads = [flow for flow in flows if flow.plt_s is not None]
    if not loads:
        return {}
    slowest = max(loads, key=lambda load: load.plt_s or 0)
    return {name: getattr(slowest, name) for name in columns_of(PageMetrics)}
