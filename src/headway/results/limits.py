"""What held a transfer back: read from samples of the bottleneck and of the server's TCP."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from headway.guest.netlink import QueueStats, TcpInfo
from headway.guest.orders import SAMPLES_FILE
from headway.lab.direction import Bottleneck
from headway.study.path import FRAME_BYTES

PATH, LOSS, GROWTH, PLATEAU = "path", "loss", "growth", "plateau"
RECEIVE_WINDOW, SEND_BUFFER = "receive window", "send buffer"

_BUSY_SHARE = 0.95
"""A link that carries this share of its rate is what limits the transfer."""
_GROWTH = 1.1
"""A transfer whose rate grew by this factor within a round trip is still opening its window."""


@dataclass(frozen=True)
class Sample:
    """Counters of the bottleneck towards the client, and the server's TCP, at a time."""

    at_s: float
    sent_bytes: int
    backlog_bytes: int
    queue_drops: int
    path_drops: int
    tcp: TcpInfo | None


@dataclass(frozen=True)
class Limits:
    """What the samples of a run tell; seconds and bytes, null where there is no such thing."""

    limited_by: str | None = None
    plateau_s: float | None = None
    rwnd_limited_s: float | None = None
    sndbuf_limited_s: float | None = None
    retransmits: int | None = None
    utilisation: float | None = None
    queue_peak_bytes: int | None = None
    queue_drops: int | None = None
    path_drops: int | None = None


def read_samples(directory: Path, place: Bottleneck) -> list[Sample]:
    """Samples of a run; an unfinished last line is left out."""
    file = directory / SAMPLES_FILE
    if not file.exists():
        return []
    lines = file.read_text().splitlines()
    devices = [device for _, device in json.loads(lines[0])[1]]
    queue, delay = devices.index(place.queue_device), devices.index(place.loss_device)
    samples = []
    for line in lines[1:]:
        try:
            samples.append(_sample(json.loads(line), queue, delay))
        except json.JSONDecodeError:
            break
    return samples


def _sample(raw: list[Any], queue: int, delay: int) -> Sample:
    at_us, queues, sockets = raw
    after = QueueStats(*queues[delay])
    before = QueueStats(*queues[queue]) if queues[queue] else QueueStats(after.sent_bytes, 0, 0)
    return Sample(
        at_s=at_us / 1e6,
        sent_bytes=before.sent_bytes,
        backlog_bytes=before.backlog_bytes,
        queue_drops=before.dropped,
        path_drops=after.dropped,
        tcp=TcpInfo(*sockets[0][0]) if sockets[0] else None,
    )


def find_limits(
    samples: list[Sample], *, rate_mbit: float | None, rtt_s: float, start_s: float, end_s: float
) -> Limits:
    """Tell what limited a transfer between its first and last byte.

    Args:
        samples: at increasing times.
        rate_mbit: rate of the bottleneck, if it is constant.
        rtt_s: round-trip propagation delay.
        start_s: when the first byte arrived.
        end_s: when the last byte arrived.
    """
    if len(samples) < 2:
        return Limits()
    spent: dict[str, float] = defaultdict(float)
    for index, (before, after) in enumerate(pairwise(samples), start=1):
        span = min(after.at_s, end_s) - max(before.at_s, start_s)
        if span > 0:
            spent[_reason(samples, index, rate_mbit, rtt_s)] += span
    last = samples[-1]
    tcp = next((sample.tcp for sample in reversed(samples) if sample.tcp), None)
    return Limits(
        limited_by=max(spent, key=spent.__getitem__) if spent else None,
        plateau_s=spent[PLATEAU],
        rwnd_limited_s=tcp.rwnd_limited_us / 1e6 if tcp else None,
        sndbuf_limited_s=tcp.sndbuf_limited_us / 1e6 if tcp else None,
        retransmits=tcp.total_retrans if tcp else None,
        utilisation=last.sent_bytes * 8e-6 / (rate_mbit * end_s) if rate_mbit and end_s else None,
        queue_peak_bytes=max(sample.backlog_bytes for sample in samples),
        queue_drops=last.queue_drops,
        path_drops=last.path_drops,
    )


def _reason(samples: list[Sample], index: int, rate_mbit: float | None, rtt_s: float) -> str:
    before, after = samples[index - 1], samples[index]
    span = after.at_s - before.at_s
    sent = after.sent_bytes - before.sent_bytes
    if after.backlog_bytes >= 2 * FRAME_BYTES:
        return PATH
    if rate_mbit and sent * 8e-6 >= _BUSY_SHARE * rate_mbit * span:
        return PATH
    if after.tcp and before.tcp:
        if after.tcp.rwnd_limited_us - before.tcp.rwnd_limited_us > span * 5e5:
            return RECEIVE_WINDOW
        if after.tcp.sndbuf_limited_us - before.tcp.sndbuf_limited_us > span * 5e5:
            return SEND_BUFFER
    if after.queue_drops + after.path_drops > 0:
        return LOSS
    window = max(rtt_s, 2 * span)
    now = _sent_at(samples, after.at_s) - _sent_at(samples, after.at_s - window)
    earlier = _sent_at(samples, after.at_s - window) - _sent_at(samples, after.at_s - 2 * window)
    return GROWTH if now > _GROWTH * earlier else PLATEAU


def _sent_at(samples: list[Sample], at_s: float) -> float:
    """Bytes sent until a time, between samples by interpolation."""
    index = bisect_left(samples, at_s, key=lambda sample: sample.at_s)
    if index == 0:
        return 0
    if index == len(samples):
        return samples[-1].sent_bytes
    before, after = samples[index - 1], samples[index]
    share = (at_s - before.at_s) / (after.at_s - before.at_s)
    return before.sent_bytes + share * (after.sent_bytes - before.sent_bytes)
