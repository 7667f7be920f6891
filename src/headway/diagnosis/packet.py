"""A captured packet: what can be told of it without keys, and how another one differs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address

_ETHERNET_BYTES = 14
_IPV6_BYTES = 40
_TCP, _UDP = 6, 17
_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")
_LONG_HEADER = 0x80
_QUIC_TYPES = ("Initial", "0-RTT", "Handshake", "Retry")
_QUIC_PORT = 443
_TRIFLE_NS = 10_000
"""Less is what some calls more or less take, since reading a clock takes time."""


@dataclass(frozen=True)
class SeenPacket:
    """A packet of IPv4, or of IPv6 without extension headers, in an Ethernet frame, and when a host's device saw it."""

    at_ns: int
    frame: bytes

    @cached_property
    def _ip(self) -> bytes:
        return self.frame[_ETHERNET_BYTES:]

    @property
    def _is_ipv6(self) -> bool:
        return self._ip[0] >> 4 == 6

    @cached_property
    def segment(self) -> bytes:
        """What IP carries."""
        return self._ip[_IPV6_BYTES if self._is_ipv6 else 4 * (self._ip[0] & 0x0F) :]

    @property
    def source(self) -> str:
        """Address of its sender."""
        return str(ip_address(self._ip[8:24] if self._is_ipv6 else self._ip[12:16]))

    @property
    def destination(self) -> str:
        """Address that it is for."""
        return str(ip_address(self._ip[24:40] if self._is_ipv6 else self._ip[16:20]))

    @property
    def is_udp(self) -> bool:
        """Whether it carries a datagram of UDP."""
        return self._protocol == _UDP

    @property
    def is_tcp(self) -> bool:
        """Whether it carries a segment of TCP."""
        return self._protocol == _TCP

    @property
    def _protocol(self) -> int:
        return self._ip[6 if self._is_ipv6 else 9]

    @cached_property
    def fields(self) -> dict[str, str | int]:
        """What its headers say, and how much it carries."""
        if self._protocol == _TCP:
            return self._of_tcp()
        if self._protocol == _UDP:
            return {"UDP payload": len(self.segment) - 8, "kind": self._quic}
        return {"protocol": self._protocol, "bytes": len(self.segment)}

    def _of_tcp(self) -> dict[str, str | int]:
        _, _, sequence, acknowledged, place, flags, window = struct.unpack_from(
            "!HHIIBBH", self.segment
        )
        names = [name for bit, name in enumerate(_FLAGS) if flags & 1 << bit]
        return {
            "TCP payload": len(self.segment) - 4 * (place >> 4),
            "flags": " ".join(names),
            "sequence number": sequence,
            "acknowledgment number": acknowledged,
            "window": window,
        }

    @property
    def _quic(self) -> str:
        """Type of a QUIC packet of version 1 (RFC 9000, 17.2); of others what is known."""
        ports = struct.unpack_from("!HH", self.segment)
        if _QUIC_PORT not in ports or len(self.segment) < 9:
            return "datagram"
        first = self.segment[8]
        return f"QUIC {_QUIC_TYPES[first >> 4 & 3]}" if first & _LONG_HEADER else "QUIC 1-RTT"

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        if self._protocol == _TCP:
            size = self.fields["TCP payload"]
            what = f"{size} bytes" if size else "no data"
            return f"TCP {self.fields['flags']} with {what}"
        if self._protocol == _UDP:
            return f"{self.fields['kind']} of {self.fields['UDP payload']} bytes"
        return f"packet of {len(self._ip)} bytes"

    def looks_like(self, other: SeenPacket) -> bool:
        """Whether an observer without keys, and without a good clock, would take it for the other."""
        return self._route == other._route and self.is_close_to(other)

    def is_close_to(self, other: SeenPacket) -> bool:
        """Whether hardly any time lies between them."""
        return abs(self.at_ns - other.at_ns) < _TRIFLE_NS

    def is_timed_like(self, other: SeenPacket) -> bool:
        """Whether an observer without keys would take it for the other."""
        return self._route == other._route and self.at_ns == other.at_ns

    @property
    def _route(self) -> tuple[object, ...]:
        """From whom, to whom, and what its headers say."""
        return self.source, self.destination, *self.fields.items()


def differing_fields(base: SeenPacket, head: SeenPacket) -> Iterator[str]:
    """What differs between two packets of one sender, in words: of the head against of the base."""
    for name, value in head.fields.items():
        if (before := base.fields.get(name)) != value:
            yield f"{name} {value} against {before}"
    if head.fields == base.fields:
        pairs = enumerate(zip(base.frame, head.frame, strict=False))
        place = next((at for at, (first, other) in pairs if first != other), None)
        if place is not None:
            yield f"bytes from {place - _ETHERNET_BYTES} of the packet on"
