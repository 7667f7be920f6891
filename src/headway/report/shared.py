"""Runs of flows that competed, over time: what each got, how its sender was, and what queued before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from headway.diagnosis.delivered import Delivered
from headway.diagnosis.samples import read_samples
from headway.diagnosis.series import SegmentSeries, read_series
from headway.diagnosis.transfer import Transfer
from headway.lab.assemble import FLOWS_DIRECTORY
from headway.records.flowfile import FLOW_RECORDS
from headway.records.store import ARTIFACTS
from headway.report.chosen import ChosenRun
from headway.study.family import Family

_BINS = 120
"""Spans that goodput is told of."""


@dataclass(frozen=True)
class FlowCourse:
    """One of the flows over time.

    Attributes:
        name: its name; of several of a name with its number.
        named: its name in the study file.
        goodput_mbit: in equal spans from the start of the workload to its end, Mbit/s.
        sender: its sender, and its narrowest link.
    """

    name: str
    named: str
    goodput_mbit: tuple[float, ...]
    sender: SegmentSeries


@dataclass(frozen=True)
class SharedStory:
    """A run of flows that competed.

    Attributes:
        run: the run.
        end_s: when the last of them ended, from the start of the workload.
        flows: each over time, in the order of the study file.
        rate_mbit: constant rate of the narrowest link, Mbit/s; None if it has none.
    """

    run: ChosenRun
    end_s: float
    flows: tuple[FlowCourse, ...]
    rate_mbit: float | None

    @property
    def span_s(self) -> float:
        """Length of the spans of goodput."""
        return self.end_s / _BINS

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(flow.name for flow in self.flows)

    @property
    def queue_delay_ms(self) -> tuple[tuple[float, float], ...]:
        """At which time what was in the queue before the narrowest link took how long to send."""
        if not self.rate_mbit:
            return ()
        link = self.flows[0].sender
        per_byte_ms = 8e-3 / self.rate_mbit
        return tuple(
            (at_s, backlog * per_byte_ms)
            for at_s, backlog in zip(link.at_s, link.queue_bytes, strict=True)
            if at_s <= self.end_s
        )


def shared_stories(directory: Path, runs: Sequence[ChosenRun]) -> tuple[SharedStory, ...]:
    """Those of the runs whose flows competed, as far as they left samples.

    Args:
        directory: the study's results.
        runs: which runs.
    """
    found = [_story(directory / ARTIFACTS / run.run_id, run) for run in runs]
    return tuple(story for story in found if story)


def _story(directory: Path, run: ChosenRun) -> SharedStory | None:
    try:
        records = FLOW_RECORDS.load(directory).flows
        own = [directory / FLOWS_DIRECTORY / record.flow for record in records]
        transfers = [Transfer.load(one) for one in own]
    except FileNotFoundError:
        return None  # a flow alone, or the runs were given without what they left behind
    end_s = max((one.end_s or 0.0 for one in transfers), default=0.0)
    if not end_s:
        return None
    edges = [end_s * place / _BINS for place in range(_BINS + 1)]
    courses = [
        FlowCourse(
            name=record.flow,
            named=record.named,
            goodput_mbit=_goodput(one, transfer, Family(record.family), edges),
            sender=read_series(one).segments[0],
        )
        for record, one, transfer in zip(records, own, transfers, strict=True)
    ]
    return SharedStory(run, end_s, tuple(courses), transfers[0].segments[0].rate_mbit)


def _goodput(
    directory: Path, transfer: Transfer, family: Family, edges: Sequence[float]
) -> tuple[float, ...]:
    if transfer.flows:
        delivered = Delivered.told(transfer.flows, 0.0)
    else:
        device = transfer.segments[0].loss_devices[0]
        delivered = Delivered.counted(read_samples(directory), device, family)
    return tuple(delivered.mbit(begin, end) for begin, end in pairwise(edges))
