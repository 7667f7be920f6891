"""A run's directory as the guest leaves it, made by hand: samples of its segments, and its transfer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from headway.contract.names import SAMPLES_FILE
from headway.contract.samples import TCP_FIELDS, QueueStats, SamplesHeader, TcpInfo
from headway.diagnosis.transfer import SampledSegment, Transfer

EPOCH_S = 1_767_225_600.5
SEGMENT = SampledSegment(
    "server", "client", "queue", ("loss",), rate_mbit=10, rtt_s=0.1, delay_s=0.05
)
FRAME_BYTES = 1514

Row = tuple[float, QueueStats | None, QueueStats, list[TcpInfo]]
"""A sample: time in seconds, the queue's counters, the delay line's, the sender's connections."""


def counters(packets: int, *, backlog: int = 0, drops: int = 0) -> QueueStats:
    """Counters after so many full packets."""
    return QueueStats(packets * FRAME_BYTES, packets, drops, backlog)


def tcp(**fields: int) -> TcpInfo:
    """A connection in congestion avoidance whose window of ten segments is full."""
    usual = {
        **dict.fromkeys(TcpInfo._fields, 0),
        "local_port": 443,
        "peer_port": 40000,
        "mss": 1448,
        "cwnd": 10,
        "ssthresh": 10,
        "unacked": 10,
        "notsent_bytes": 100_000,
        "rtt_us": 100_000,
    }
    return TcpInfo(**{**usual, **fields})


def write_samples(directory: Path, rows: Sequence[Row]) -> None:
    """Write the samples of the only segment as the guest's sampler does."""
    write_chain(directory, {"server": rows})


def write_chain(directory: Path, segments: Mapping[str, Sequence[Row]]) -> None:
    """Write the samples of several segments, by their senders; all were taken at the same times."""
    devices = [device for sender in segments for device in _devices(sender)]
    header = SamplesHeader(
        int(EPOCH_S * 1e9),
        tuple(("router", device) for device in devices),
        tuple(segments),
        QueueStats._fields,
        TCP_FIELDS,
    )
    lines: list[Any] = [asdict(header)]
    for at_once in zip(*segments.values(), strict=True):
        queues = [stats for _, queue, loss, _ in at_once for stats in (queue, loss)]
        lines.append([round(at_once[0][0] * 1e6), queues, [found for *_, found in at_once]])
    (directory / SAMPLES_FILE).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _devices(sender: str) -> tuple[str, str]:
    """The bottleneck's queue and the delay line on the way from a sender."""
    return ("queue", "loss") if sender == "server" else (f"queue-{sender}", f"loss-{sender}")


def segment(sender: str, receiver: str, delay_s: float) -> SampledSegment:
    """One of several segments, as `write_chain` has them."""
    queue, loss = _devices(sender)
    return replace(
        SEGMENT,
        sender=sender,
        receiver=receiver,
        queue_device=queue,
        loss_devices=(loss,),
        delay_s=delay_s,
    )


def rows_of(
    packets: Sequence[int],
    connections: Sequence[list[TcpInfo]] | None = None,
    *,
    every_s: float = 0.1,
    backlog: int = 0,
    path_drops: Sequence[int] | None = None,
) -> list[Row]:
    """Samples at equal distances, from the packets sent until each of them."""
    return [
        (
            index * every_s,
            counters(sent, backlog=backlog),
            counters(sent, drops=path_drops[index] if path_drops else 0),
            connections[index] if connections else [],
        )
        for index, sent in enumerate(packets)
    ]


def transfer(
    start_s: float = 0.25, end_s: float = 1.05, segment: SampledSegment = SEGMENT
) -> Transfer:
    """The client's first and last byte."""
    return Transfer(start_s, end_s, (segment,))
