"""Flows that competed: a record of each, as if it had been a run by itself, and what they were together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any

from headway.columns import Record
from headway.columns.record import FlowRecord
from headway.contract.orders import CONTROLS_FILE, SAMPLES_FILE
from headway.diagnosis.disturbances import named_disturbances
from headway.diagnosis.goodput import INTERVAL_S, received_bytes
from headway.lab.assemble import flow_directory
from headway.lab.run import Result
from headway.planning.runs import CompetingRun, Run, flow_runs
from headway.programs.measurement import Measurement
from headway.records.singlerun import conditions_of, record_of

_SHARED_FILES = (SAMPLES_FILE, CONTROLS_FILE)


def flow_records(run: Run, result: Result, directory: Path) -> tuple[FlowRecord, ...]:
    """A record of every flow of a run whose flows compete."""
    named = list(zip(flow_runs(run), result.flows, strict=True))
    failed = next((one.flow.name for one, measured in named if measured.error), None)
    common = _Common(named)
    return tuple(
        FlowRecord(
            **dict(_alone(one, result, measured, directory)),
            flow=one.flow.name,
            client_host=one.flow.namespace,
            server_host=one.flow.server,
            start_s=one.flow.at_ns / 1e9,
            common_mbit=common.mbit(number),
            share=common.share(number),
            disturbed_by=failed if failed != one.flow.name else None,
        )
        for number, (one, measured) in enumerate(named)
    )


def _alone(run: CompetingRun, result: Result, measured: Measurement, directory: Path) -> Record:
    """What a flow's directory tells, which has the samples of all."""
    own = directory / flow_directory(run.flow)
    for name in _SHARED_FILES:
        if (directory / name).exists() and not (own / name).exists():
            os.link(directory / name, own / name)
    ended = tuple(one for one in result.outcome.ended if one.namespace == run.flow.namespace)
    hosts = (run.flow.namespace, run.flow.server)
    drops = result.outcome.udp_buffer_drops
    drops = {host: drops[host] for host in hosts if host in drops}
    outcome = replace(result.outcome, ended=ended, udp_buffer_drops=drops)
    return record_of(run, Result(outcome, measured, result.wall_s), own)


def conditions_together(run: Run) -> dict[str, Any]:
    """Conditions of a run that all of its flows have, or what each has, in words."""
    of_flows = [conditions_of(one) for one in flow_runs(run)]
    told = {name: _in_common([one[name] for one in of_flows]) for name in of_flows[0]}
    return {
        **told,
        "tls": all(one["tls"] for one in of_flows),
        "rtt_ms": min(one["rtt_ms"] for one in of_flows),
        "requests": sum(one["requests"] for one in of_flows),
        "disturbances": named_disturbances(run.setting),
        "flows": len(of_flows),
    }


def sharing(run: Run, result: Result) -> dict[str, Any]:
    """Columns of how a run's flows shared its path."""
    common = _Common(list(zip(flow_runs(run), result.flows, strict=True)))
    return {"jain_index": common.jain_index, "common_s": common.span_s}


def _in_common(values: Sequence[Any]) -> Any:
    """The value of all; of different texts each once, of other values none."""
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return different[0]
    texts = [value for value in different if isinstance(value, str)]
    return ", ".join(texts) if len(texts) == len(different) else None


class _Common:
    """The time when all flows were there, and what each got in it."""

    def __init__(self, named: Sequence[tuple[CompetingRun, Measurement]]) -> None:
        self._failed = any(measured.error for _, measured in named)
        spans = [] if self._failed else list(starmap(_span, named))
        begin_s = max((begin for begin, _ in spans), default=0.0)
        end_s = min((end for _, end in spans), default=0.0)
        self.span_s = max(end_s - begin_s, 0.0) or None
        self._mbit: list[float] = []
        if self.span_s and all(measured.flows for _, measured in named):
            self._mbit = [_mbit(*one, begin_s, end_s) for one in named]

    def mbit(self, number: int) -> float | None:
        return self._mbit[number] if self._mbit else None

    def share(self, number: int) -> float | None:
        return self._mbit[number] / sum(self._mbit) if any(self._mbit) else None

    @property
    def jain_index(self) -> float | None:
        return jain(self._mbit) if any(self._mbit) else None


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index: the square of the sum over n times the sum of squares (Jain et al. 1984)."""
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def _span(run: CompetingRun, measured: Measurement) -> tuple[float, float]:
    """From when to when a flow was there, from the start of the workload."""
    begin_s = run.flow.at_ns / 1e9 + measured.began_s
    return begin_s, begin_s + (measured.total_s or 0)


def _mbit(run: CompetingRun, measured: Measurement, begin_s: float, end_s: float) -> float:
    own_s = run.flow.at_ns / 1e9
    received = received_bytes(measured.flows, 0)
    total = sum(
        amount * _overlap(own_s + place * INTERVAL_S, begin_s, end_s)
        for place, amount in enumerate(received)
    )
    return total * 8e-6 / (end_s - begin_s)


def _overlap(start_s: float, begin_s: float, end_s: float) -> float:
    """The part of an interval of received bytes that is within a span."""
    return max(min(start_s + INTERVAL_S, end_s) - max(start_s, begin_s), 0.0) / INTERVAL_S
