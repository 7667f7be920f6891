"""Loads of the processors of a flow's hosts while it lasted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headway.contract.samples import ProcessorWork
from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.samples import Sample, read_samples


class Use(NamedTuple):
    """What a processor did between two times."""

    busy_share: float
    work_s: tuple[float, ...]
    dropped_packets: int


@measure
def _processors(finished: FinishedRun) -> Mapping[str, Any]:
    transfer, flow = finished.transfer, finished.flow
    if transfer.end_s is None or not any(node.kernel.processor for node in flow.nodes):
        return {}
    samples = read_samples(finished.directory).taken
    ends = {"client": flow.asked.namespace, "server": flow.server.name}
    between = [node.name for node in flow.nodes if node.name not in ends.values()]
    span = transfer.began_s, transfer.end_s
    used = {role: use for role, host in ends.items() if (use := use_of(host, samples, *span))}
    if hops := [use for host in between if (use := use_of(host, samples, *span))]:
        used["proxy"] = _together(hops)
    measured: dict[str, Any] = {}
    for role, use in used.items():
        measured |= {f"{role}_busy_share": use.busy_share, f"{role}_work_s": use.work_s}
    if used:
        measured["processor_drops"] = sum(use.dropped_packets for use in used.values())
    return measured


def _together(uses: Sequence[Use]) -> Use:
    """The busiest of several processors, and what all of them did."""
    return Use(
        busy_share=max(use.busy_share for use in uses),
        work_s=tuple(map(math.fsum, zip(*(use.work_s for use in uses), strict=True))),
        dropped_packets=sum(use.dropped_packets for use in uses),
    )


def use_of(host: str, samples: list[Sample], begin_s: float, end_s: float) -> Use | None:
    """What a host's processor did in a span of time, as nearly as it was sampled; None without one."""
    own = [
        (sample.at_s, sample.processors[host]) for sample in samples if host in sample.processors
    ]
    if not own:
        return None
    first_s, before = next(
        (processor_work for processor_work in reversed(own) if processor_work[0] <= begin_s), own[0]
    )
    last_s, after = next(
        (processor_work for processor_work in own if processor_work[0] >= end_s), own[-1]
    )
    return _between(before, after, last_s - first_s) if last_s > first_s else None


def _between(before: ProcessorWork, after: ProcessorWork, span_s: float) -> Use:
    kinds = ("calls_ns", "sent_ns", "received_ns", "computing_ns")
    busy = [last - first for first, last in zip(before.busy_ns, after.busy_ns, strict=True)]
    return Use(
        busy_share=max(busy) / 1e9 / span_s,
        work_s=tuple((getattr(after, kind) - getattr(before, kind)) / 1e9 for kind in kinds),
        dropped_packets=after.dropped_packets - before.dropped_packets,
    )
