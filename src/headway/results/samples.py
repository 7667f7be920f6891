"""Reading what the guest sampled during a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from headway.guest.netlink import QueueStats, TcpInfo
from headway.guest.orders import SAMPLES_FILE


class Sample(NamedTuple):
    """Counters of queues by device, and TCP connections by the host that sends on them.

    A device without a queueing discipline is not among the queues.
    """

    at_s: float
    queues: dict[str, QueueStats]
    tcp: dict[str, list[TcpInfo]]


@dataclass(frozen=True)
class Samples:
    """All samples of a run; ``epoch_s`` is the wall clock's time at the workload's start."""

    epoch_s: float
    taken: list[Sample]


def read_samples(run_directory: Path) -> Samples:
    """Samples of a run, none if there is no file; an unfinished last line is left out."""
    file = run_directory / SAMPLES_FILE
    decoded = _decode(file.read_text().splitlines() if file.exists() else [])
    if not decoded:
        return Samples(0.0, [])
    epoch_ns, devices, namespaces, *_ = decoded[0]
    names = [device for _, device in devices]
    return Samples(epoch_ns / 1e9, [_sample(line, names, namespaces) for line in decoded[1:]])


def started_s(run_directory: Path) -> float:
    """The wall clock's time at the workload's start; 0 if nothing was sampled."""
    file = run_directory / SAMPLES_FILE
    if not file.exists():
        return 0.0
    with file.open() as opened:
        header = _decode([opened.readline()])
    return float(header[0][0] / 1e9) if header else 0.0


def _decode(lines: list[str]) -> list[Any]:
    while lines:
        try:
            # All at once takes half as long as line by line.
            return cast(list[Any], json.loads(f"[{','.join(lines)}]"))
        except json.JSONDecodeError:
            lines = lines[:-1]
    return []


def _sample(line: list[Any], devices: list[str], namespaces: list[str]) -> Sample:
    at_us, queues, connections = line
    return Sample(
        at_us / 1e6,
        {
            device: QueueStats._make(fields)
            for device, fields in zip(devices, queues, strict=True)
            if fields
        },
        {
            namespace: [TcpInfo._make(fields) for fields in found]
            for namespace, found in zip(namespaces, connections, strict=True)
        },
    )
