"""Results of the flows that competed, run by run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

from headway.columns import Status

_GREEDY = frozenset({"bulk", "download", "parallel"})
"""Kinds of workloads that always have something to send; others may want less than they could have."""
_NEEDED = (
    "cell",
    "contender",
    "run_id",
    "seed",
    "rep",
    "named",
    "common_mbit",
    "fair_mbit",
    "rtt_ms",
    "workload",
    "status",
)

_Row = Mapping[str, Any]
"""What is needed of a row of ``flows.parquet``."""


@dataclass(frozen=True)
class RunFlow:
    """One of the flows of a run.

    Attributes:
        named: its name.
        mbit: its goodput.
        part: the same over its fair share.
        greedy: whether it always has something to send.
        rtt_ms: round-trip time of its path, as the study states it.
    """

    named: str
    mbit: float
    part: float
    greedy: bool
    rtt_ms: float | None = None


@dataclass(frozen=True)
class FlowsRun:
    """The flows of a run, and what pairs it with a run of another contender."""

    seed: int
    rep: int
    flows: tuple[RunFlow, ...]

    @property
    def total_mbit(self) -> float:
        return math.fsum(flow.mbit for flow in self.flows)

    def of(self, named: str) -> list[RunFlow]:
        """The flows of this name."""
        return [flow for flow in self.flows if flow.named == named]

    def parts(self, names: Sequence[str]) -> list[float]:
        """The part of each name, in the mean over its flows; of a single name, of each flow."""
        if len(names) == 1:
            return [flow.part for flow in self.flows]
        return [fmean(flow.part for flow in self.of(name)) for name in names]


FlowRuns = Mapping[tuple[str, str], tuple[FlowsRun, ...]]
"""By cell and contender."""


def flow_runs(flows: pl.DataFrame | None) -> FlowRuns:
    """The runs of several flows each, of every cell and contender, in which all flows were there at once."""
    if flows is None:
        return {}
    rows: dict[tuple[str, str, str], list[_Row]] = defaultdict(list)
    for row in flows.filter(~pl.col("background")).select(_NEEDED).iter_rows(named=True):
        rows[row["cell"], row["contender"], row["run_id"]].append(row)
    flows_runs: dict[tuple[str, str], list[FlowsRun]] = defaultdict(list)
    for (cell, contender, _), own in rows.items():
        if len(own) > 1 and all(map(_is_told, own)):
            flows_runs[cell, contender].append(_run(own))
    return {place: tuple(runs) for place, runs in flows_runs.items()}


def _is_told(row: _Row) -> bool:
    return row["status"] == Status.OK.value and row["common_mbit"] is not None


def _run(rows: Sequence[_Row]) -> FlowsRun:
    fair = [row["fair_mbit"] for row in rows]
    weights = fair if all(fair) else [1.0] * len(rows)
    total = math.fsum(row["common_mbit"] for row in rows)
    flows = tuple(
        RunFlow(
            named=row["named"],
            mbit=row["common_mbit"],
            part=row["common_mbit"] * math.fsum(weights) / (total * weight) if total else 0.0,
            greedy=(row["workload"] or "").partition(" ")[0] in _GREEDY,
            rtt_ms=row["rtt_ms"],
        )
        for row, weight in zip(rows, weights, strict=True)
    )
    return FlowsRun(rows[0]["seed"], rows[0]["rep"] or 0, flows)
