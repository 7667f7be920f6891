"""Two builds' sweeps of faults, position by position: which packet's loss costs the head more than the base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.analysis import Analysis, analyse
from headway.analysis.faultcosts import FaultCost, Sweep, sweeps
from headway.analysis.faultsentences import position, signed
from headway.analysis.metric import Metric
from headway.instruments.check.firstpacket import FirstDifference, first_difference, has_captures
from headway.instruments.check.verdict import Side
from headway.study.fault import FaultSweep, tolerated
from headway.study.units import Duration


@dataclass(frozen=True)
class CheckedFault:
    """A fault that both builds met, of a contender in a cell.

    Attributes:
        experiment: its experiment; empty if the study has one only.
        cell: the cell without a fault.
        title: what tells it from others, in words; empty if it is the only one.
        contender: the contender.
        metric: what is compared.
        base: what it cost the base.
        head: what it cost the head.
        without: the metric without a fault, of base and head.
        tolerated: by how much more the head may take with the fault, in the metric's unit.
        runs: directories of a run of each.
    """

    experiment: str
    cell: str
    title: str
    contender: str
    metric: Metric
    base: FaultCost
    head: FaultCost
    without: tuple[float, float]
    tolerated: float
    runs: tuple[Path, Path]

    @property
    def name(self) -> str:
        """Contender, cell and fault, in words."""
        words = (self.experiment, self.title, self.contender, str(self.head.fault))
        return ", ".join(filter(None, words))

    @property
    def later(self) -> float:
        """By how much more the head takes with the fault than the base with it; infinite if only it fails."""
        if self.base.failed or self.head.failed:
            # A pair of runs has the same seed: another run of the base that fails excuses nothing.
            return math.inf if set(self.head.failed_seeds) - set(self.base.failed_seeds) else 0.0
        before, now = self.without
        return (now + self.head.median) - (before + self.base.median)

    @property
    def fails(self) -> bool:
        """Whether the head may not pass."""
        return self.later > self.tolerated

    @cached_property
    def first_packet(self) -> FirstDifference | None:
        """Where the two runs begin to differ; None if they do not, or there are no captures of both."""
        return first_difference(*self.runs) if all(map(has_captures, self.runs)) else None

    @property
    def sentence(self) -> str:
        """What was found, in a line."""
        what = f"{self.name} ({position(self.head.fault)}: {self.head.carried or 'not kept'})"
        if math.isinf(self.later):
            return f"{what}: fails, and did not with the base: {self.head.reason}"
        how = "no slower" if self.later <= 0 else f"{signed(self.metric, self.later)} later"
        allowed = self.metric.text(self.tolerated)
        return f"{what}: {how} than the base; tolerated: {allowed}"


def judge_faults(base: Side, head: Side) -> list[CheckedFault]:
    """Compare the sweeps of all experiments that try each packet once, at the packets that both builds sent."""
    return [
        checked
        for experiment in head.results.experiments
        if experiment.faults is not None
        for checked in _judged(
            experiment.faults,
            analyse(base.results, base.results.experiment(experiment.name), experiment.metrics[0]),
            analyse(head.results, experiment, experiment.metrics[0]),
            (base, head),
        )
    ]


def _judged(
    sweep: FaultSweep, before: Analysis, now: Analysis, sides: tuple[Side, Side]
) -> Iterator[CheckedFault]:
    known = {(sweep.cell, sweep.contender): sweep for sweep in sweeps(before)}
    rtts_ms: Mapping[str, float] = dict(now.runs.select("cell", "rtt_ms").iter_rows())
    for first in sweeps(now):
        other = known.get((first.cell, first.contender))
        if other is None:
            continue
        limit_s = tolerated(sweep.tolerance, Duration(round(rtts_ms[first.cell] * 1e6))).s
        for base_cost, head_cost in _pairs(other, first):
            yield CheckedFault(
                experiment=now.experiment.name,
                cell=first.cell,
                title=first.title,
                contender=first.contender,
                metric=now.metric,
                base=base_cost,
                head=head_cost,
                without=(other.without, first.without),
                tolerated=limit_s,
                runs=(sides[0].run(base_cost.run_id), sides[1].run(head_cost.run_id)),
            )


def _pairs(before: Sweep, now: Sweep) -> Iterator[tuple[FaultCost, FaultCost]]:
    costs = {str(cost.fault): cost for cost in before.costs}
    for first in now.costs:
        if other := costs.get(str(first.fault)):
            yield other, first
