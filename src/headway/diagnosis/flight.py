"""Bytes in flight at the bottleneck over time, as a queue sees them, whatever their sender says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headway.diagnosis.rampup import bottleneck
from headway.diagnosis.samples import read_samples
from headway.diagnosis.segment import Moment, observe_queue
from headway.diagnosis.transfer import Transfer

Series = NDArray[np.float64]
_EVERY_S = 0.05
_ETHERNET_BYTES = 1514.0


@dataclass(frozen=True)
class Flight:
    """What was on its way through the narrowest link, at equal intervals.

    Attributes:
        every_s: the interval.
        bdps: bytes in flight over the path's bandwidth-delay product: what the link sent within the last
            round-trip propagation delay, and what its queue holds.
        drops: packets that the queue dropped in each interval.
        rtt_s: round-trip propagation delay.
        bdp_packets: the product in full packets of this sender.
    """

    every_s: float
    bdps: Series
    drops: Series
    rtt_s: float
    bdp_packets: float

    @classmethod
    def of(cls, run_directory: Path, transfer: Transfer) -> Self | None:
        """Of a run; None without samples or a constant rate, and where rate or delay are none."""
        if transfer.end_s is None or not transfer.segments:
            return None
        segment = transfer.segments[bottleneck(transfer.segments)[0]]
        moments = observe_queue(segment, read_samples(run_directory)).moments
        if not segment.rate_mbit or not segment.rtt_s or len(moments) < 2:
            return None
        times = np.array([moment.at_s for moment in moments])
        sent, queued, dropped = (
            np.array([float(getattr(moment, name)) for moment in moments])
            for name in ("sent_bytes", "backlog_bytes", "queue_drops")
        )
        bdp = segment.rate_mbit * 1e6 / 8 * segment.rtt_s
        at = np.arange(transfer.began_s, min(transfer.end_s, times[-1]), _EVERY_S)
        earlier = np.interp(at - segment.rtt_s, times, sent)
        in_flight = np.interp(at, times, sent) - earlier + np.interp(at, times, queued)
        drops = np.diff(np.interp(at, times, dropped), prepend=dropped[0])
        return cls(_EVERY_S, in_flight / bdp, drops, segment.rtt_s, bdp / _full_packet(moments))

    @property
    def seconds(self) -> float:
        return self.every_s * len(self.bdps)


_FEWEST = 3
"""Packets between two samples that show how large full ones are: a single one may be a probe of the path's MTU."""


def _full_packet(moments: Sequence[Moment]) -> float:
    """Bytes of a sender's full packets: windows grow by these, and QUIC's have 1200 to 1472 bytes of payload."""
    sent, packets = (
        np.diff([float(getattr(moment, name)) for moment in moments])
        for name in ("sent_bytes", "sent_packets")
    )
    some = packets >= _FEWEST
    return float((sent[some] / packets[some]).max()) if some.any() else _ETHERNET_BYTES
