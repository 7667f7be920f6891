"""Orders of the self-test to its two probes, one in each end host, and their answers.

Times count from the start of the workload, in nanoseconds, unless said otherwise.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

START_GRID_NS = 500_000_000
"""The agent starts the workload on this grid of the monotonic clock."""

HEADER_BYTES = 14 + 20 + 8
"""Ethernet, IPv4 and UDP headers of a probe packet."""
SMALL_FRAME_BYTES = 60
"""The smallest Ethernet frame without its check sequence; a probe packet's number fits in it."""

UDP_PORT, TCP_PORT = 7001, 7002
OTHER_FLOW = 0xFFFF
"""Flow of packets that carry no number: TCP and whatever else is on the wire."""

PAYLOAD = struct.Struct("!HI")
"""What a probe packet carries: its flow and its number."""

RECORD = struct.Struct("<qIHHBBIH")
"""One packet that a probe saw on its device: time, number, flow, bytes on the wire, kind, intact, source and port.

``intact`` is 0 for a frame that is not for this host, and for a small one with a wrong checksum. ``source`` is the
address that a probe packet comes from; both are 0 of others.
"""

SENT, RECEIVED, REQUEST, REPLY = range(4)
"""Kinds of packets: probe packets leaving and arriving, ICMP echo requests and replies."""


@dataclass(frozen=True)
class ProbeFlow:
    """Numbered packets towards the other host.

    Attributes:
        frame_bytes: size of each on the wire, Ethernet header included.
        sends: times, and how many packets are handed to the kernel at each.
        echo: whether they are ICMP echo requests, which the other host's kernel answers.
    """

    frame_bytes: int
    sends: tuple[tuple[int, int], ...]
    echo: bool = False


@dataclass(frozen=True)
class ProbeOrders:
    """All that one probe does.

    Attributes:
        device: the device whose packets are recorded.
        address: of this host.
        peer: address of the other host.
        flows: what to send.
        capacity: how many packets can be recorded.
        transfer_at_ns: when ``transfer_bytes`` are sent each way over one TCP connection.
        transfer_span_ns: how long that may take; 0 if there is no such connection.
        transfer_bytes: how many.
        connects: whether this host opens the connection.
        until_ns: when to stop recording.
        result: name of the file of records in the run's directory.
    """

    device: str
    address: str
    peer: str
    flows: tuple[ProbeFlow, ...]
    capacity: int
    transfer_at_ns: int
    transfer_span_ns: int
    transfer_bytes: int
    connects: bool
    until_ns: int
    result: str
