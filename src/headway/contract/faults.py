"""Faults of single packets, as the host asks for them and a lab tells of them."""

from __future__ import annotations

from dataclasses import dataclass

from headway.contract.text import omitted


@dataclass(frozen=True)
class PacketFault:
    """What happens to packets of these numbers, from 1: a kind of `headway.study.fault`.

    ``span_ns`` is how long a delay or a blackout lasts, and how long a reordered packet waits at most for as many
    to pass it as ``behind`` says. ``flips``, if there are any, spoil a byte of each corrupted packet: its place in what
    the datagram carries, counted around if there are fewer bytes, and the bits of it that flip. Version Negotiation
    packets of QUIC are left alone then: nothing in them is authenticated (RFC 8999, section 6).
    """

    kind: str
    packets: tuple[int, ...]
    span_ns: int = 0
    behind: int = 0
    flips: tuple[tuple[int, int], ...] = omitted(())


@dataclass(frozen=True)
class FaultLink:
    """A direction whose packets are numbered from the workload's beginning, and to some of which something happens.

    Packets that the namespace routes into ``device`` (a TUN device) are handed back to it. The first ``kept``, and
    those that met the fault, are told in a ``file`` of the run's directory, one `KeptPacket` a line.
    """

    name: str
    namespace: str
    device: str
    fault: PacketFault | None
    kept: int
    file: str


@dataclass(frozen=True)
class KeptPacket:
    """An IP packet that came to a direction with faults: its number, when, whether it met one, its bytes in hexadecimal."""

    number: int
    at_ns: int
    met: bool
    bytes: str


@dataclass(frozen=True)
class Passed:
    """How many packets came to a direction with faults, and how many met one."""

    packets: int
    met: int
