"""Datagrams of UDP in a capture: between whom, when, and with which ECN mark."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address

_ETHERNET_BYTES, _IPV6_BYTES, _UDP_BYTES = 14, 40, 8
_UDP = 17

Place = tuple[str, int]
"""An address and a port."""


@dataclass(frozen=True)
class Datagram:
    """A datagram between a client and a server.

    Attributes:
        at_ns: when the capture saw it.
        source: whence.
        destination: where to.
        of_client: whether a client sent it.
        ecn: the two bits of Explicit Congestion Notification (RFC 3168, section 5).
        content: what it carries.
    """

    at_ns: int
    source: Place
    destination: Place
    of_client: bool
    ecn: int
    content: bytes

    @property
    def client(self) -> Place:
        """The client's place, whoever sent it."""
        return self.source if self.of_client else self.destination

    @property
    def path(self) -> tuple[Place, Place]:
        """Both ends, the client's first."""
        return (
            (self.source, self.destination) if self.of_client else (self.destination, self.source)
        )

    @property
    def is_ipv6(self) -> bool:
        """Whether IPv6 carried it."""
        return ":" in self.source[0]


def datagrams(frames: Iterable[tuple[int, bytes]], servers: frozenset[str]) -> Iterator[Datagram]:
    """The datagrams to and from servers in Ethernet frames.

    Args:
        frames: each with its time in nanoseconds.
        servers: the servers' addresses.
    """
    for at_ns, frame in frames:
        packet = frame[_ETHERNET_BYTES:]
        if packet and (datagram := _datagram(at_ns, packet, servers)):
            yield datagram


@lru_cache
def _written(address: bytes) -> str:
    return str(ip_address(address))


def _datagram(at_ns: int, packet: bytes, servers: frozenset[str]) -> Datagram | None:
    is_ipv6 = packet[0] >> 4 == 6
    protocol = packet[6 if is_ipv6 else 9]
    begin = _IPV6_BYTES if is_ipv6 else 4 * (packet[0] & 0x0F)
    if protocol != _UDP or len(packet) < begin + _UDP_BYTES:
        return None
    sources = packet[8:24], packet[24:40]
    if not is_ipv6:
        sources = packet[12:16], packet[16:20]
    source, destination = map(_written, sources)
    source_port, destination_port, length = struct.unpack_from("!HHH", packet, begin)
    ecn = packet[1] >> 4 & 3 if is_ipv6 else packet[1] & 3
    content = packet[begin + _UDP_BYTES : begin + length]
    if not servers.intersection((source, destination)):
        return None
    ends = (source, source_port), (destination, destination_port)
    return Datagram(at_ns, *ends, destination in servers, ecn, content)
