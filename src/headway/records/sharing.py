"""Columns of flows that compete: when all were there, what each got, and how even that was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from statistics import fmean
from typing import Any

from headway.columns.sharing import Sharing
from headway.diagnosis.bottleneckuse import bottleneck_use
from headway.diagnosis.delivered import Delivered
from headway.diagnosis.fairness import evened_s, jain
from headway.diagnosis.samples import Samples
from headway.diagnosis.segment import SegmentSamples, observe_queue
from headway.diagnosis.transfer import sampled_segments
from headway.planning.deployment import DeployedFlow
from headway.planning.maxmin import fair_rates_mbit
from headway.programs.measurement import Measurement
from headway.records.oneflow import MeasuredFlow
from headway.study.family import Family


@dataclass(frozen=True)
class Sharer:
    """One of several flows that ended well.

    Attributes:
        named: its name in the study file.
        background: whether it is only there to load the path.
        begin_s: when its client began, from the start of the workload.
        end_s: when its last byte came.
        delivered: what came to its client.
        fair_mbit: its max-min fair goodput; None if a link's rate changes, or nothing limits it.
    """

    named: str
    background: bool
    begin_s: float
    end_s: float
    delivered: Delivered
    fair_mbit: float | None


@dataclass(frozen=True)
class Together:
    """Flows that shared a path; those in the background do not count.

    Attributes:
        sharers: the flows; none if one of them failed.
        links: samples of each flow's narrowest link.
    """

    sharers: tuple[Sharer, ...]
    links: tuple[SegmentSamples, ...] = ()

    @cached_property
    def span_s(self) -> tuple[float, float] | None:
        """From the start of the last to the end of the first; None if they were never all there."""
        counted = self._counted
        if not counted:
            return None
        begin_s, end_s = (
            max(sharer.begin_s for sharer in counted),
            min(sharer.end_s for sharer in counted),
        )
        return (begin_s, end_s) if begin_s < end_s else None

    def mbit(self, sharer: Sharer) -> float | None:
        """What a flow got while all were there."""
        return sharer.delivered.mbit(*self.span_s) if self.span_s else None

    def share(self, sharer: Sharer) -> float | None:
        """The same of what all of them got."""
        mbit, total = self.mbit(sharer), math.fsum(self._mbit)
        return None if mbit is None or not total else mbit / total

    def fair_share(self, sharer: Sharer) -> float | None:
        """The same of what it should have got."""
        mbit = self.mbit(sharer)
        return None if mbit is None or not sharer.fair_mbit else mbit / sharer.fair_mbit

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of the run, of its flows together."""
        if not self.span_s or not any(self._mbit):
            return {}
        begin_s, end_s = self.span_s
        first = [
            m for sharer, m in zip(self._counted, self._mbit, strict=True) if self._is_first(sharer)
        ]
        others = [
            m
            for sharer, m in zip(self._counted, self._mbit, strict=True)
            if not self._is_first(sharer)
        ]
        fair_shares = [self.fair_share(sharer) for sharer in self._counted]
        known = [fair_share for fair_share in fair_shares if fair_share is not None]
        shared = Sharing(
            common_s=end_s - begin_s,
            jain_index=jain(self._mbit),
            first_ratio=fmean(first) / fmean(others) if any(others) else None,
            first_mbit=fmean(first),
            others_mbit=fmean(others) if others else None,
            least_fair_share=min(known) if len(known) == len(fair_shares) else None,
            evened_s=evened_s(
                [sharer.delivered.between for sharer in self._counted], begin_s, end_s
            ),
        )
        return shared.model_dump(exclude={"flows"}) | dict(
            bottleneck_use(self.links, begin_s, end_s)
        )

    @cached_property
    def _counted(self) -> list[Sharer]:
        return [sharer for sharer in self.sharers if not sharer.background]

    @cached_property
    def _mbit(self) -> list[float]:
        return (
            [sharer.delivered.mbit(*self.span_s) for sharer in self._counted] if self.span_s else []
        )

    def _is_first(self, sharer: Sharer) -> bool:
        """Whether it has the name that the study has first; if all have it, whether it is the first."""
        first = self._counted[0]
        if all(flow.named == first.named for flow in self._counted):
            return sharer is first
        return sharer.named == first.named


def together(flows: Sequence[MeasuredFlow], samples: Samples) -> Together:
    """What flows were together.

    Args:
        flows: the flows; if the client of one of them failed, nothing can be said of all.
        samples: of their network.
    """
    if any(measured_flow.measured.error for measured_flow in flows):
        return Together(())
    counted = [
        measured_flow.flow for measured_flow in flows if not measured_flow.flow.asked.background
    ]
    rates = fair_rates_mbit(counted) or ()
    fair = dict(zip([flow.asked.name for flow in counted], rates, strict=False))
    return Together(
        tuple(
            Sharer(
                named=measured_flow.flow.named,
                background=measured_flow.flow.asked.background,
                begin_s=measured_flow.begin_s,
                end_s=measured_flow.end_s,
                delivered=_delivered(measured_flow.flow, measured_flow.measured, samples),
                fair_mbit=_goodput(
                    fair.get(measured_flow.flow.asked.name), measured_flow.flow.setting.family
                ),
            )
            for measured_flow in flows
        ),
        tuple(_links(counted, samples)),
    )


def _links(flows: Sequence[DeployedFlow], samples: Samples) -> Iterator[SegmentSamples]:
    narrowest = {
        segment.queue_device: segment for flow in flows for segment in sampled_segments(flow)
    }
    for segment in narrowest.values():
        yield observe_queue(segment, samples)


def _delivered(flow: DeployedFlow, measured: Measurement, samples: Samples) -> Delivered:
    if measured.flows:
        return Delivered.told(measured.flows, flow.start_s)
    device = sampled_segments(flow)[0].loss_devices[0]
    return Delivered.counted(samples, device, flow.setting.family)


def _goodput(rate_mbit: float | None, family: Family) -> float | None:
    """What is left of a rate on the wire without headers."""
    return (
        None if rate_mbit is None or not isfinite(rate_mbit) else rate_mbit * family.payload_share
    )
