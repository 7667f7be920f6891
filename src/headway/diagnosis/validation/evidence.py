"""Evidence that validates a run: measured values beside what they must be, kept in the run's directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.diagnosis.document import Document
from headway.diagnosis.validation.expected import DelayBounds, Loss


@dataclass(frozen=True)
class Echoes:
    """Control pings.

    Attributes:
        between: from whom to whom, as ``client > server``.
        sent: number of requests.
        rtts_ms: round-trip times of those that were answered.
        span: bounds of the round-trip time.
        loss: how many are lost; None if that changes.
    """

    between: str
    sent: int
    rtts_ms: tuple[float, ...]
    span: DelayBounds
    loss: Loss | None


@dataclass(frozen=True)
class Crossing:
    """All packets of one direction between two hosts where connections end, from captures.

    Attributes:
        between: from whom to whom, as ``server > proxy-gw``.
        way: ``down`` (towards the client) or ``up``.
        missed: packets that the captures themselves lost; if there are any, nothing else can be told.
        packets: seen at the sender until the end of the workload.
        missing: of these, not seen at the receiver.
        strangers: seen at the receiver only.
        unfinished: of the missing, those that may have been on their way at the workload's end.
        queue_drops: packets that queues had dropped by then; None if others are lost that nothing counts.
        path_drops: packets that were lost otherwise: by loss models, in blackouts, by their number.
        least_ms: the shortest one-way delay; None if nothing arrived.
        greatest_ms: the longest one.
        span: bounds of the delay.
        loss: random loss; None if it changes.
    """

    between: str
    way: str
    missed: int
    packets: int
    missing: int
    strangers: int
    unfinished: int
    queue_drops: int | None
    path_drops: int | None
    least_ms: float | None
    greatest_ms: float | None
    span: DelayBounds
    loss: Loss | None

    @property
    def met_full_queue(self) -> bool:
        """Whether the queue dropped packets, and all that it held then had time to arrive."""
        surely_dropped = self.missing > self.unfinished and not self.path_drops
        return bool(self.queue_drops) and surely_dropped


@dataclass(frozen=True)
class Rates:
    """How far the narrowest link towards the client was used.

    Attributes:
        between: the section that it lies on, as ``proxy-gw > proxy-st``.
        link_mbit: its rate, Mbit/s, which counts Ethernet frames.
        busiest_mbit: the most that it carried over a second.
        standing: whether for a second its queue held more at every sample than it sends until the
            next one, so that it must have carried all it can.
        payload_mbit: the most payload that the link can carry.
        steady_mbit: median goodput of the seconds of the second half of a bulk download; None for
            others, and for short ones.
    """

    between: str
    link_mbit: float
    busiest_mbit: float
    standing: bool
    payload_mbit: float
    steady_mbit: float | None


@dataclass(frozen=True)
class Evidence:
    """All that validates a run; what was not asked for is missing."""

    echoes: Echoes | None = None
    crossings: tuple[Crossing, ...] = ()
    rates: Rates | None = None

    def save(self, run_directory: Path) -> None:
        """Keep it in the run's directory."""
        _EVIDENCE.save(run_directory, self)


_EVIDENCE = Document(Evidence, "validation.json")


def load_evidence(run_directory: Path) -> Evidence | None:
    """The evidence in a run's directory; None if the run was not validated.

    Raises:
        HeadwayError: it is of another version, or damaged.
    """
    try:
        return _EVIDENCE.load(run_directory)
    except FileNotFoundError:
        return None
