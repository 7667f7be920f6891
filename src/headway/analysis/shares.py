"""Shares: what each of several flows got beside the others, cell by cell, and whether that is even.

A flow's *part* is its goodput over its fair share: all that was carried, divided as max-min fair rates are, which on
one shared link is evenly. What is said of it is said of the runs: by their median, with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import fmean

from headway.analysis.analysis import Analysis
from headway.analysis.cells import Cell
from headway.analysis.flowruns import FlowsRun, RunFlow
from headway.analysis.sample import Measurements, Observation, SampleSummary, summarise

EVEN_PART = 0.9
"""Flows share evenly if none has less of its fair share (delta-fair with a delta of 0.1: Bansal et al. 2001)."""
STARVED_PART = 0.2
"""A flow that has less of its fair share is starved."""


class Shared(StrEnum):
    """How flows shared, by the part that the least of them had."""

    EVEN = "even"
    TAKEN = "taken from"
    STARVED = "starved"
    UNCLEAR = "not clear"
    UNTOLD = "not judged"
    """A single run, or flows that do not always have something to send."""


@dataclass(frozen=True)
class FlowShares:
    """What a flow got, over the runs.

    Attributes:
        mbit: its goodput, Mbit/s.
        share: the same of what all flows got.
        part: the same over its fair share.
    """

    mbit: SampleSummary
    share: SampleSummary
    part: SampleSummary


@dataclass(frozen=True)
class NameShares:
    """What the flows of a name got in a cell, beside the others of a contender.

    Attributes:
        named: their name in the study.
        count: how many they are.
        rtt_ms: round-trip times of their paths, as the study states them, each once.
        measured: goodput of one of them, in the mean over them, in every run, Mbit/s.
        ranked: each of them: of every run the one that got most first, the one that got least last.
        share: of what all flows got, those of this name together.
        part: what one of them got over its fair share, in the mean over them.
    """

    named: str
    count: int
    rtt_ms: tuple[float, ...]
    measured: Measurements
    ranked: tuple[FlowShares, ...]
    share: SampleSummary
    part: SampleSummary

    @property
    def mbit(self) -> SampleSummary:
        """Summary of what one of them got."""
        return _known(self.measured.sample)


@dataclass(frozen=True)
class Shares:
    """Who got how much: the flows of a contender in a cell.

    Attributes:
        cell: the cell.
        contender: the contender.
        names: the flows by name, in the study's order.
        runs: how many they are told of: those that ended well, in which all flows were there at once.
        total_mbit: what all flows got together, Mbit/s.
        least: the part of whoever had the least in a run: of the names, of a single name of its flows.
        sharing: how they shared.
        taker: the name that had the most, where one takes from another; empty if nobody does, or flows of one name do.
        taken: the name that had the least; likewise.
    """

    cell: Cell
    contender: str
    names: tuple[NameShares, ...]
    runs: int
    total_mbit: SampleSummary
    least: SampleSummary
    sharing: Shared
    taker: str = ""
    taken: str = ""

    @property
    def uneven(self) -> bool:
        """Whether a flow is shown to have less than its share."""
        return self.sharing in (Shared.TAKEN, Shared.STARVED)

    @property
    def judged(self) -> SampleSummary:
        """The part that decides how they shared: of the name that had the least, or of the least flow of one name."""
        return next((name.part for name in self.names if name.named == self.taken), self.least)

    def of(self, named: str) -> NameShares | None:
        """What the flows of this name got."""
        return next((name for name in self.names if name.named == named), None)


@lru_cache(maxsize=32)
def shares(analysis: Analysis) -> tuple[Shares, ...]:
    """Who got how much in every cell, contender by contender; empty if no flows competed."""
    runs = analysis.flows
    return tuple(
        _shares(cell, name, run, analysis.experiment.number_of_looks)
        for cell in analysis.cells
        for name in analysis.contenders
        if (run := runs.get((cell.name, name)))
    )


def _shares(cell: Cell, contender: str, runs: Sequence[FlowsRun], looks: int) -> Shares:
    named = list(dict.fromkeys(flow.named for run in runs for flow in run.flows))
    names = tuple(_of_name(name, runs, looks) for name in named)
    several = len(named) > 1
    least = _known(summarise([min(run.parts(named)) for run in runs], looks))
    lowest = min(names, key=lambda name_shares: name_shares.part.median)
    greedy = all(flow.greedy for run in runs for flow in run.flows)
    sharing = _sharing(lowest.part if several else least, least) if greedy else Shared.UNTOLD
    taken = several and sharing in (Shared.TAKEN, Shared.STARVED)
    return Shares(
        cell=cell,
        contender=contender,
        names=names,
        runs=len(runs),
        total_mbit=_known(summarise([run.total_mbit for run in runs], looks)),
        least=least,
        sharing=sharing,
        taker=max(names, key=lambda name_shares: name_shares.part.median).named if taken else "",
        taken=lowest.named if taken else "",
    )


def _sharing(decisive: SampleSummary, least: SampleSummary) -> Shared:
    """The rule: where the interval of the part lies that the least of them had."""
    if decisive.interval is None or least.interval is None:
        return Shared.UNTOLD
    if decisive.interval.high < STARVED_PART:
        return Shared.STARVED
    if decisive.interval.high < EVEN_PART:
        return Shared.TAKEN
    return Shared.EVEN if least.interval.low >= EVEN_PART else Shared.UNCLEAR


def _of_name(named: str, runs: Sequence[FlowsRun], looks: int) -> NameShares:
    own = [sorted(run.of(named), key=lambda flow: -flow.mbit) for run in runs]
    totals = [run.total_mbit or 1.0 for run in runs]
    mean = [fmean(flow.mbit for flow in flows) for flows in own]
    together = [
        math.fsum(flow.mbit for flow in flows) / total
        for flows, total in zip(own, totals, strict=True)
    ]
    return NameShares(
        named=named,
        count=len(own[0]),
        rtt_ms=tuple(
            sorted({flow.rtt_ms for flows in own for flow in flows if flow.rtt_ms is not None})
        ),
        measured=Measurements.of(
            (Observation(run.seed, run.rep, mbit) for run, mbit in zip(runs, mean, strict=True)),
            looks=looks,
        ),
        ranked=tuple(_ranked(flows, totals, looks) for flows in zip(*own, strict=True)),
        share=_known(summarise(together, looks)),
        part=_known(summarise([fmean(flow.part for flow in flows) for flows in own], looks)),
    )


def _ranked(flows: Sequence[RunFlow], totals: Sequence[float], looks: int) -> FlowShares:
    """The flow of a rank in every run."""
    shared = [flow.mbit / total for flow, total in zip(flows, totals, strict=True)]
    return FlowShares(
        mbit=_known(summarise([flow.mbit for flow in flows], looks)),
        share=_known(summarise(shared, looks)),
        part=_known(summarise([flow.part for flow in flows], looks)),
    )


def _known(sample_summary: SampleSummary | None) -> SampleSummary:
    assert sample_summary, "there is a run at least"
    return sample_summary
