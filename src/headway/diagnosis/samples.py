"""Reading what the guest sampled during a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from headway.contract.artifact import read_lines, read_text
from headway.contract.names import SAMPLES_FILE
from headway.contract.samples import (
    TCP_FIELDS,
    ProcessorsHeader,
    ProcessorWork,
    QueueStats,
    SamplesHeader,
    TcpInfo,
)
from headway.errors import HeadwayError

_KINDS = len(ProcessorWork._fields) - 1


class Sample(NamedTuple):
    """Counters of queues by device, TCP connections by the host that sends on them, and processors by host.

    A device without a queueing discipline is not among the queues.
    """

    at_s: float
    queues: dict[str, QueueStats]
    tcp: dict[str, list[TcpInfo]]
    processors: dict[str, ProcessorWork] = {}  # noqa: RUF012


@dataclass(frozen=True)
class Samples:
    """All samples of a run; ``epoch_s`` is the wall clock's time at the workload's start."""

    epoch_s: float
    taken: list[Sample]


@dataclass(frozen=True)
class _SamplesFile:
    """A file as it is now. Flows of a run have it in their directories, too: one file by many names."""

    device: int
    inode: int
    size: int
    changed_ns: int
    path: Path = field(compare=False)


def read_samples(run_directory: Path) -> Samples:
    """Samples of a run, none if there is no file; an unfinished last line is left out.

    They are decoded once for all that asks for them, such as each of many flows.
    """
    path = run_directory / SAMPLES_FILE
    try:
        result = path.stat()
    except FileNotFoundError:
        return Samples(0.0, [])
    file = _SamplesFile(result.st_dev, result.st_ino, result.st_size, result.st_mtime_ns, path)
    return _decoded(file)


@lru_cache(maxsize=4)  # Runs of several labs are read at a time.
def _decoded(file: _SamplesFile) -> Samples:
    decoded = _decode(read_text(file.path).splitlines())
    if not decoded:
        return Samples(0.0, [])
    header = _header(file.path, decoded[0])
    names = [device for _, device in header.devices]
    hosts = header.processors.namespaces if header.processors else ()
    samples = [_sample(line, names, header.namespaces, hosts) for line in decoded[1:]]
    return Samples(header.epoch_ns / 1e9, samples)


def started_s(run_directory: Path) -> float:
    """The wall clock's time at the workload's start; 0 if nothing was sampled."""
    file = run_directory / SAMPLES_FILE
    if not file.exists():
        return 0.0
    decoded = _decode([next(read_lines(file), b"").decode()])
    return _header(file, decoded[0]).epoch_ns / 1e9 if decoded else 0.0


def _header(file: Path, raw: Any) -> SamplesHeader:
    """What samples are of; once it was the same as an array.

    Raises:
        HeadwayError: they are of another version, with other fields.
    """
    try:
        header = SamplesHeader(*raw) if isinstance(raw, list) else SamplesHeader(**raw)
        if isinstance(header.processors, dict):
            header = replace(header, processors=ProcessorsHeader(**header.processors))
        fields = tuple(header.queue_fields), tuple(header.tcp_fields)
        if header.version == 1 and fields == (QueueStats._fields, TCP_FIELDS):
            return header
    except TypeError:
        pass
    raise HeadwayError(
        f"{file} is of another version of Headway: read it with the one that manifest.json names, "
        "or run the study again"
    )


def _decode(lines: list[str]) -> list[Any]:
    while lines:
        try:
            # All at once takes half as long as line by line.
            return cast(list[Any], json.loads(f"[{','.join(lines)}]"))
        except json.JSONDecodeError:
            lines = lines[:-1]
    return []


def _sample(
    line: list[Any], devices: Sequence[str], namespaces: Sequence[str], hosts: Sequence[str]
) -> Sample:
    at_us, queues, connections, *processors = line
    return Sample(
        at_us / 1e6,
        {
            device: QueueStats._make(fields)
            for device, fields in zip(devices, queues, strict=True)
            if fields
        },
        {
            namespace: [TcpInfo(*fields) for fields in sockets]
            for namespace, sockets in zip(namespaces, connections, strict=True)
        },
        {
            host: ProcessorWork._make((*work[:_KINDS], tuple(work[_KINDS:])))
            for works in processors
            for host, work in zip(hosts, works, strict=True)
        },
    )
