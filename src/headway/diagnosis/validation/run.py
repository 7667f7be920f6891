"""A run's evidence, from what it left in its directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.diagnosis.samples import read_samples
from headway.diagnosis.transfer import Transfer
from headway.diagnosis.validation.evidence import Crossing, Echoes, Evidence
from headway.diagnosis.validation.expected import (
    delay_span,
    drops_are_counted,
    has_nat,
    mean_loss,
    there_and_back,
)
from headway.diagnosis.validation.passage import Passage, passage
from headway.diagnosis.validation.rates import find_rates
from headway.lab.captures import capture_files, missed_packets
from headway.planning.deployment import DeployedFlow, FixedWay, Segment
from headway.planning.topology import Leg
from headway.study.clock import Clock
from headway.study.path import Way


def validate(
    flow: DeployedFlow, outcome: Outcome, transfer: Transfer, run_directory: Path
) -> Evidence | None:
    """What validates a run in virtual time that had control pings or captures; None for others.

    The evidence is kept in the run's directory, too.
    """
    setting = flow.setting
    if not (setting.control or setting.capture.packets) or setting.clock is not Clock.VIRTUAL:
        return None
    # Pings come before the workload. Where its packets follow contacts, no single path says what they should meet.
    way = flow.way
    crossings = (
        tuple(_crossings(flow, way, outcome, run_directory)) if isinstance(way, FixedWay) else ()
    )
    evidence = Evidence(
        echoes=_echoes(flow, outcome),
        crossings=crossings,
        rates=find_rates(flow, transfer, run_directory),
    )
    evidence.save(run_directory)
    return evidence


def _echoes(flow: DeployedFlow, outcome: Outcome) -> Echoes | None:
    end = flow.http_end
    if not (flow.setting.control and outcome.pings_ns) or _slow_hosts(flow) & {
        flow.nodes[0].name,
        flow.nodes[end].name,
    }:
        return None
    span, loss = there_and_back([leg.path for leg in flow.legs[:end]])
    first, last = flow.nodes[0], flow.nodes[end]
    return Echoes(
        between=f"{first.name} > {last.name}",
        sent=len(outcome.pings_ns),
        rtts_ms=tuple(took / 1e6 for took in outcome.pings_ns if took is not None),
        span=span,
        loss=loss,
    )


def _crossings(
    flow: DeployedFlow, fixed: FixedWay, outcome: Outcome, run_directory: Path
) -> Iterator[Crossing]:
    # With segmentation offload, packets are cut and joined on the way; a lab that was ended before
    # its time has counted nothing.
    if flow.setting.offload or not outcome.counts:
        return
    epoch_ns = round(read_samples(run_directory).epoch_s * 1e9)
    until_ns = epoch_ns + outcome.duration_ns
    for segment in fixed.segments:
        near, far = segment.near.name, _passed_last(flow, segment)
        crossed = _up_to(far, segment)
        left, right = (run_directory / file for file in capture_files(crossed))
        if not (left.exists() and right.exists()):
            continue
        natted = has_nat([leg.path for leg in segment.legs])
        missed = missed_packets(
            run_directory, (crossed[0].wires[0].left_device, crossed[-1].wires[-1].right_device)
        )
        for way in Way:
            if (far if way is Way.UP else near) in _slow_hosts(flow):
                continue
            result = passage(left, right, way, until_ns, translated=natted)
            places = segment.bottlenecks(way)
            counts = Counts.total(outcome.counts[place.queue_device] for place in places)
            yield _crossing(segment, (near, far), way, missed, result, counts)


def _passed_last(flow: DeployedFlow, segment: Segment) -> str:
    """The last host that all packets of a segment's path pass: where ways to a page's servers part, or its far end."""
    if flow.origins and segment.far == flow.server:
        return flow.origins[0].leg.left
    return segment.far.name


def _up_to(host: str, segment: Segment) -> tuple[Leg, ...]:
    """The legs of a segment up to a host."""
    ends = [leg.right for leg in segment.legs]
    return segment.legs[: ends.index(host) + 1]


def _slow_hosts(flow: DeployedFlow) -> set[str]:
    """Hosts whose processors take time: their captures and replies see packets late, and not those that they dropped."""
    return {node.name for node in flow.nodes if node.kernel.processor}


def _crossing(
    segment: Segment,
    ends: tuple[str, str],
    way: Way,
    missed: int,
    results: Passage,
    counts: Counts,
) -> Crossing:
    paths = [leg.path for leg in segment.legs]
    delays_ns = results.delays_ns
    counted = drops_are_counted(paths, way)
    return Crossing(
        between=" > ".join(ends if way is Way.UP else ends[::-1]),
        way=way.value,
        missed=missed,
        packets=len(results.sent_ns),
        missing=results.missing,
        strangers=results.strangers,
        unfinished=results.unfinished,
        queue_drops=counts.queue_dropped if counted else None,
        path_drops=counts.path_dropped if counted else None,
        least_ms=min(delays_ns) / 1e6 if delays_ns else None,
        greatest_ms=max(delays_ns) / 1e6 if delays_ns else None,
        span=delay_span(paths, way),
        loss=mean_loss(paths, way),
    )
