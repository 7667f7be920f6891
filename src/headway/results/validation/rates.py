"""How far a link was used: from samples of its counters, and from what bulk receivers got."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from headway.results.goodput import INTERVAL_S, received_bytes
from headway.results.samples import Sample, read_samples
from headway.results.transfer import Hop, Transfer
from headway.results.validation.evidence import Rates
from headway.study.model import Setting
from headway.study.path import FRAME_BYTES
from headway.study.workload import Bulk, BulkDirection, Workload

_WINDOW_S = 1.0
_PER_SECOND = round(1 / INTERVAL_S)
_TCP_PAYLOAD_BYTES = 1500 - 20 - 20 - 12
"""IPv4 and TCP headers, and the time stamps that Linux sends in every segment (RFC 7323)."""
_QUIC_PAYLOAD_BYTES = 1500 - 20 - 8 - 20
"""IPv4 and UDP headers; a short header with a byte of packet number and no connection ID, a
STREAM frame's type and stream ID, and the authentication tag (RFC 9000, 17.3.1 and 19.8; RFC 9001, 5.3)."""


def find_rates(setting: Setting, transfer: Transfer, run_directory: Path) -> Rates | None:
    """Use of the narrowest link towards the client; None if no link has a constant rate."""
    hop = min(
        (hop for hop in transfer.hops if hop.rate_mbit is not None),
        key=lambda hop: hop.rate_mbit or 0,
        default=None,
    )
    samples = read_samples(run_directory).taken
    if hop is None or hop.rate_mbit is None or not samples:
        return None
    busiest_mbit, standing = _use(samples, hop)
    payload = _QUIC_PAYLOAD_BYTES if setting.protocol.over_quic else _TCP_PAYLOAD_BYTES
    return Rates(
        between=hop.name,
        link_mbit=hop.rate_mbit,
        busiest_mbit=busiest_mbit,
        standing=standing,
        payload_mbit=hop.rate_mbit * payload / FRAME_BYTES,
        steady_mbit=steady_goodput_mbit(received_bytes(transfer.flows))
        if _downloads(setting.workload)
        else None,
    )


def _downloads(workload: Workload) -> bool:
    return isinstance(workload, Bulk) and workload.direction is BulkDirection.DOWNLOAD


def _use(samples: Sequence[Sample], hop: Hop) -> tuple[float, bool]:
    """The most that a link carried over a second, Mbit/s, and whether its queue stood for one."""
    seen = [(sample.at_s, sample.queues[hop.queue_device]) for sample in samples]
    used: dict[bool, float] = {True: 0.0, False: 0.0}
    first = stands_from = 0
    for last, (at_s, queue) in enumerate(seen):
        if not queue.backlog_bytes:
            stands_from = last + 1
        while at_s - seen[first][0] >= _WINDOW_S:
            begin_s, before = seen[first]
            rate_mbit = (queue.sent_bytes - before.sent_bytes) * 8e-6 / (at_s - begin_s)
            standing = stands_from <= first
            used[standing] = max(used[standing], rate_mbit)
            first += 1
    return max(used.values()), used[True] > 0


def steady_goodput_mbit(received: Sequence[int]) -> float | None:
    """Median of the seconds of the second half, which slow start no longer shapes.

    A median, because after a repaired loss a receiver gets what waited for it all at once: in some
    seconds more than a link carries.

    Args:
        received: bytes in intervals of `INTERVAL_S`.
    """
    half = received[len(received) // 2 :]
    seconds = [
        sum(half[place : place + _PER_SECOND]) * 8e-6
        for place in range(0, len(half) - _PER_SECOND + 1, _PER_SECOND)
    ]
    return statistics.median(seconds) if seconds else None
