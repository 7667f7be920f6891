"""Departures of packets with data from the sender in front of the narrowest link, and their arrivals at it: from captures, kept as tables.

Times are those at which the host's device had the packet, after its queueing discipline, and at which the router before
the queue received it. What a host's network card would cut into packets (TCP and UDP segmentation offload) is cut
before the device; a packet that is larger than a frame, as with ``offload``, counts as those that it is cut into, at once.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from headway.contract.artifact import read_text
from headway.diagnosis.packet import SeenPacket
from headway.diagnosis.samples import started_s
from headway.diagnosis.spacing import Train
from headway.lab.captures import missed_packets, pacing_files
from headway.lab.pcapng import read_pcapng
from headway.lab.watching import answering
from headway.planning.deployment import DeployedFlow, Deployment
from headway.planning.narrowlink import NarrowLink, narrow_link
from headway.study.host import Protocol
from headway.study.queue import FRAME_BYTES

_LEAST_QUIC_BYTES = 128
"""Of a datagram of QUIC that carries data: those that only acknowledge, or give credit, are smaller."""
_LONG_HEADER = 0x80
"""In the first byte of a QUIC packet of the handshake (RFC 9000, section 17.2)."""
_IP = (b"\x08\x00", b"\x86\xdd")
_HEADINGS = ("at_ns", "bytes", "connection")
SENDER_FILE, BOTTLENECK_FILE = "pacing-sender.csv", "pacing-bottleneck.csv"
"""In the directory of a run, or of a flow: when from the start of the workload, how large as a frame, and on which
connection, in the order of their first packets, a packet was there."""


@dataclass(frozen=True)
class _Departure:
    at_ns: int
    size: int
    connection: tuple[str, bytes]


def keep_departures(deployment: Deployment, directory: Path) -> None:
    """Make tables of the captures of a run, if its setting asks for them, and drop captures that nobody asked for.

    There is none of a capture that has missed packets.

    Args:
        deployment: of the run.
        directory: of the run.
    """
    capture = deployment.setting.capture
    if not capture.pacing:
        return
    read: set[str] = set()
    for flow in deployment.flows:
        if link := narrow_link(flow):
            _keep(flow, link, directory)
            read.update(pacing_files(link))
    if not capture.packets:
        for name in read:
            (directory / name).unlink(missing_ok=True)


def _keep(flow: DeployedFlow, link: NarrowLink, directory: Path) -> None:
    senders = frozenset(str(host_address) for host_address in answering(flow, link.number))
    epoch_ns = round(started_s(directory) * 1e9)
    devices = link.sender_device, link.entry_device
    tables = SENDER_FILE, BOTTLENECK_FILE
    for device, name, table in zip(devices, pacing_files(link), tables, strict=True):
        file = directory / name
        if not file.exists() or missed_packets(directory, (device,)):
            continue
        numbers: dict[tuple[str, bytes], int] = {}
        with (directory / flow.directory / table).open("w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(_HEADINGS)
            for departure in _departures(file, senders, link.segment.protocol):
                number = numbers.setdefault(departure.connection, len(numbers))
                rows.writerow((departure.at_ns - epoch_ns, departure.size, number))


def _departures(file: Path, senders: frozenset[str], protocol: Protocol) -> Iterator[_Departure]:
    """Packets with data of a capture that some addresses sent."""
    for at_ns, frame in read_pcapng(file):
        if frame[12:14] not in _IP:
            continue
        packet = SeenPacket(at_ns, frame)
        if packet.source in senders and _carries_data(packet, protocol):
            connection = packet.destination, packet.segment[:4]
            for size in _cut(len(frame)):
                yield _Departure(at_ns, size, connection)


def _carries_data(packet: SeenPacket, protocol: Protocol) -> bool:
    if protocol.transport == "tcp":
        return packet.is_tcp and int(packet.fields["TCP payload"]) > 0
    if not packet.is_udp or not protocol.over_quic:
        return packet.is_udp
    payload = packet.segment[8:]
    return len(payload) >= _LEAST_QUIC_BYTES and not payload[0] & _LONG_HEADER


def _cut(size: int) -> Iterator[int]:
    """Frames that a packet is cut into."""
    while size > FRAME_BYTES:
        yield FRAME_BYTES
        size -= FRAME_BYTES
    yield size


def read_departures(directory: Path, table: str) -> list[Train]:
    """The packets of a run or a flow, by connection; none if nothing was kept.

    Args:
        directory: of the run, or of the flow.
        table: `SENDER_FILE` or `BOTTLENECK_FILE`.
    """
    file = directory / table
    if not file.exists():
        return []
    rows = list(csv.reader(read_text(file).splitlines()))[1:]
    packets = [tuple(map(int, row)) for row in rows]
    packets.sort(key=lambda row: row[2])
    return [
        _train([(at_ns, size) for at_ns, size, _ in own])
        for _, own in groupby(packets, key=lambda row: row[2])
    ]


def _train(packets: list[tuple[int, int]]) -> Train:
    at_ns, sizes = np.array(packets, dtype=np.int64).reshape(-1, 2).T
    return Train(at_ns, sizes)


def together(trains: list[Train]) -> Train:
    """Packets of several connections as one train."""
    at_ns = np.concatenate([train.at_ns for train in trains])
    order = np.argsort(at_ns, kind="stable")
    return Train(at_ns[order], np.concatenate([train.bytes for train in trains])[order])
