"""Flows that competed: a record of each, as if it had been a run by itself, with its part in what they were together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headway.columns import Record
from headway.columns.record import FlowRecord
from headway.contract.orders import CONTROLS_FILE, SAMPLES_FILE
from headway.diagnosis.disturbances import named_disturbances
from headway.lab.assemble import flow_directory
from headway.lab.links import link
from headway.lab.run import Result
from headway.planning.runs import CompetingRun, Run, flow_runs
from headway.programs.measurement import Measurement
from headway.records.sharing import Sharer, Together
from headway.records.singlerun import conditions_of, record_of

_SHARED_FILES = (SAMPLES_FILE, CONTROLS_FILE)


def flow_records(
    run: Run, result: Result, together: Together, directory: Path
) -> tuple[FlowRecord, ...]:
    """A record of every flow of a run whose flows compete."""
    runs = flow_runs(run)
    failed = next(
        (one.flow.name for one, told in zip(runs, result.flows, strict=True) if told.error), None
    )
    sharers = together.sharers or (None,) * len(runs)
    return tuple(
        FlowRecord(
            **dict(_alone(one, result, measured, directory)),
            flow=one.flow.name,
            named=one.named,
            background=one.background,
            client_host=one.flow.namespace,
            server_host=one.flow.server,
            start_s=one.start_s,
            end_s=one.end_s,
            **(_part(together, sharer) if sharer else {}),
            **_completions(measured),
            disturbed_by=failed if failed != one.flow.name else None,
        )
        for one, measured, sharer in zip(runs, result.flows, sharers, strict=True)
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


def _alone(run: CompetingRun, result: Result, measured: Measurement, directory: Path) -> Record:
    """What a flow's directory tells, which has the samples of all."""
    own = directory / flow_directory(run.flow)
    for name in _SHARED_FILES:
        if (directory / name).exists() and not (own / name).exists():
            link(directory / name, own / name)
    ended = tuple(one for one in result.outcome.ended if one.namespace == run.flow.namespace)
    hosts = (run.flow.namespace, run.flow.server)
    counts = result.outcome.host_counts
    counts = {host: counts[host] for host in hosts if host in counts}
    outcome = replace(result.outcome, ended=ended, host_counts=counts)
    return record_of(run, Result(outcome, measured, result.wall_s), own)


def conditions_together(run: Run) -> dict[str, Any]:
    """Conditions of a run that all of its flows have, or what each has, in words."""
    of_flows = [conditions_of(one) for one in flow_runs(run)]
    # Pages have some of which other workloads know nothing.
    names = dict.fromkeys(name for one in of_flows for name in one)
    told = {name: _in_common([one[name] for one in of_flows if name in one]) for name in names}
    return {
        **told,
        "tls": all(one["tls"] for one in of_flows),
        "rtt_ms": min(one["rtt_ms"] for one in of_flows),
        "requests": sum(one["requests"] for one in of_flows),
        "disturbances": named_disturbances(run.setting),
        "flows": len(of_flows),
    }


def _in_common(values: Sequence[Any]) -> Any:
    """The value of all; of different texts each once, of other values none."""
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return different[0]
    texts = [value for value in different if isinstance(value, str)]
    return ", ".join(texts) if len(texts) == len(different) else None
