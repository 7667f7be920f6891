"""Utilisation of a link: from samples of its counters, and from what bulk receivers got."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.diagnosis.goodput import INTERVAL_S, received_bytes
from headway.diagnosis.samples import Sample, read_samples
from headway.diagnosis.transfer import Transfer
from headway.diagnosis.validation.evidence import Rates
from headway.planning.deployment import DeployedFlow
from headway.study.middlebox import LARGEST_MTU
from headway.study.path import Path as NetworkPath
from headway.study.queue import FRAME_BYTES
from headway.study.setting import Setting

_WINDOW_S = 1.0
_PER_SECOND = round(1 / INTERVAL_S)
_QUIC_BYTES = 20
"""A short header with a byte of packet number and no connection ID, a STREAM frame's type and stream ID, and
the authentication tag (RFC 9000, 17.3.1 and 19.8; RFC 9001, 5.3)."""


def find_rates(flow: DeployedFlow, transfer: Transfer, run_directory: Path) -> Rates | None:
    """Use of the narrowest link towards the client; None if no link has a constant rate."""
    segment = min(
        (segment for segment in transfer.segments if segment.rate_mbit is not None),
        key=lambda segment: segment.rate_mbit or 0,
        default=None,
    )
    samples = read_samples(run_directory).taken
    if segment is None or segment.rate_mbit is None or not samples:
        return None
    busiest_mbit, standing = _use(samples, segment.queue_device, segment.rate_mbit)
    setting = flow.setting
    payload_bytes, overhead_bytes = _payload_bytes(setting), _overhead_bytes(flow.stated.paths)
    payload_mbit = segment.rate_mbit * (payload_bytes - overhead_bytes) / FRAME_BYTES
    received = received_bytes(transfer.flows, transfer.began_s)
    return Rates(
        between=segment.name,
        link_mbit=segment.rate_mbit,
        busiest_mbit=busiest_mbit,
        standing=standing,
        payload_mbit=payload_mbit,
        steady_mbit=steady_goodput_mbit(received, payload_mbit)
        if setting.workload.downloads_flows
        else None,
    )


def _payload_bytes(setting: Setting) -> int:
    """The most that a full packet carries of what flows send."""
    family = setting.family
    over_quic = setting.protocol.over_quic
    return family.udp_payload_bytes - _QUIC_BYTES if over_quic else family.tcp_payload_bytes


def _overhead_bytes(paths: Iterable[NetworkPath | None]) -> int:
    """What tunnels towards the client leave less of a packet; on the wire, the narrowest of them carries full frames."""
    ways = [link.down for path in filter(None, paths) for link in path.links]
    left = [int(mtu.size) for way in ways if way.tunnel and (mtu := way.carries)]
    return LARGEST_MTU - min([LARGEST_MTU, *left])


def _use(samples: Sequence[Sample], queue_device: str, rate_mbit: float) -> tuple[float, bool]:
    """The most that a link carried over a second, Mbit/s, and whether its queue stood for one.

    A queue stands if it holds more at every sample than the link sends until the next one: samples
    may happen to find backlogs only, where a sender sends in bursts.
    """
    seen = [(sample.at_s, sample.queues[queue_device]) for sample in samples]
    busiest_mbit, stood = 0.0, False
    first = stands_from = 0
    for last, (at_s, queue) in enumerate(seen):
        earlier_s, earlier = seen[max(last - 1, 0)]
        if earlier.backlog_bytes < rate_mbit * 1e6 / 8 * (at_s - earlier_s):
            stands_from = last
        while at_s - seen[first][0] >= _WINDOW_S:
            begin_s, before = seen[first]
            used_mbit = (queue.sent_bytes - before.sent_bytes) * 8e-6 / (at_s - begin_s)
            busiest_mbit = max(busiest_mbit, used_mbit)
            stood |= stands_from <= first
            first += 1
    return busiest_mbit, stood


def steady_goodput_mbit(received: Sequence[int], payload_mbit: float) -> float | None:
    """Median of the seconds of the second half, which slow start no longer shapes.

    Args:
        received: bytes in intervals of `INTERVAL_S`.
        payload_mbit: the most payload that the link can carry.
    """
    carried = _carried_bytes(received, payload_mbit * 1e6 / 8 * INTERVAL_S)
    half = carried[len(carried) // 2 :]
    seconds = [
        math.fsum(half[place : place + _PER_SECOND]) * 8e-6
        for place in range(0, len(half) - _PER_SECOND + 1, _PER_SECOND)
    ]
    return statistics.median(seconds) if seconds else None


def _carried_bytes(received: Sequence[int], most_bytes: float) -> list[float]:
    """What the link carried in each interval, at the latest.

    After a repaired loss a receiver gets what waited for it all at once, in some intervals more
    than a link carries; it came before. What the link cannot have carried since the start either
    is spread over all intervals, so that it shows.
    """
    carried: list[float] = []
    waited = 0.0
    for amount in reversed(received):
        carried.append(min(amount + waited, most_bytes))
        waited += amount - carried[-1]
    return [amount + waited / len(carried) for amount in reversed(carried)]
