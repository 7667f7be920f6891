"""The end of a run that did not end well: by its client's word, and by what its path carried and lost."""

from __future__ import annotations

from pathlib import Path

from headway.columns import Status
from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.diagnosis.observed import observed_columns
from headway.diagnosis.samples import Sample, read_samples
from headway.errors import counted
from headway.planning.deployment import DeployedFlow
from headway.planning.topology import bottlenecks
from headway.programs.measurement import Measurement
from headway.study.path import Way

_OF_CONNECTIONS = {
    True: "the handshake was complete, the response was not",
    False: "the handshake was never complete",
    None: "it did not come to its end",
}
_WHOSE = {Way.DOWN: "the server's", Way.UP: "the client's"}


def came_to(
    flow: DeployedFlow, measured: Measurement, outcome: Outcome, directory: Path
) -> str | None:
    """How far a flow's run came whose connection failed; None if the lab itself did, or did not count.

    It says what was lost and what came none the less, and no more: which of the packets was missed, and by whom, only
    the packets themselves tell.
    """
    came = {way: _came(flow, outcome, way) for way in Way}
    given_up = outcome.status == Status.TIMEOUT.value
    if measured.connected is None and not given_up:
        return None  # what it was answered, it does not like: nothing died
    if not outcome.counts or not any(came.values()):
        return None
    begun = _OF_CONNECTIONS[measured.connected]
    ended = f"until the run ended after {outcome.duration_ns / 1e9:.3g} s"
    if not came[Way.DOWN]:
        return f"{begun}: no packet of the server came to the client {ended}"
    lost = {way: _lost(flow, outcome, way) for way in Way}
    if not any(lost.values()):
        return f"{begun}, though no packet was lost on the way, {ended}"
    texts = [
        f"{lost[way]} of {_WHOSE[way]} {counted(came[way] + lost[way], 'packet')}"
        for way in (Way.DOWN, Way.UP)
        if lost[way]
    ]
    last_s = _last_drop_s(read_samples(directory).taken)
    which = "the last " if sum(lost.values()) > 1 else ""
    last = f", {which}by {last_s:.3g} s" if last_s is not None else ""
    return f"{begun}: the path lost {' and '.join(texts)}{last}, and nothing that came after made up for it {ended}"


def _came(flow: DeployedFlow, outcome: Outcome, way: Way) -> int:
    """Packets that came to the other end of the client's segment."""
    columns = observed_columns(flow, outcome)
    return sum(columns.get(f"{transport}_packets_{way}", 0) for transport in ("tcp", "udp"))


def _lost(flow: DeployedFlow, outcome: Outcome, way: Way) -> int:
    """Packets that were lost on the path, whatever lost them."""
    places = [bottleneck.queue_device for bottleneck in bottlenecks(flow.crossed_legs, way)]
    total = Counts.total(outcome.counts[place] for place in places if place in outcome.counts)
    return total.path_dropped + total.queue_dropped


def _last_drop_s(samples: list[Sample]) -> float | None:
    """By when the last packet was dropped anywhere, as the samples have it."""
    last, before = None, 0
    for sample in samples:
        dropped = sum(stats.dropped for stats in sample.queues.values())
        if dropped > before:
            last, before = sample.at_s, dropped
    return last
