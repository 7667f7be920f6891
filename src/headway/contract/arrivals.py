"""Arrivals of packets at devices, as they are asked of a lab and told by it: over which transport, from whom."""

from __future__ import annotations

from dataclasses import dataclass

from headway.contract.text import omitted


@dataclass(frozen=True)
class Watched:
    """A device at which to count what comes from ``senders``, which are addresses of a ``family``."""

    name: str
    namespace: str
    device: str
    senders: tuple[str, ...]
    family: str = omitted("ipv4")


@dataclass(frozen=True)
class Arrived:
    """Packets that came to a device from its senders while the workload went on, by transport."""

    tcp_packets: int
    udp_packets: int
