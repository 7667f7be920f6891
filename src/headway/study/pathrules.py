"""What a path's MTUs, policers, rules for UDP and NATs need of the packets that cross it."""

from __future__ import annotations

from collections.abc import Iterator

from headway.study.middlebox import SMALLEST_MTU_IPV6
from headway.study.part import wrong
from headway.study.path import Direction, Path

_LARGEST_PACKET = 65_535
"""With segmentation offload."""


def check_rules(path: Path, *, ipv6: bool, offload: bool) -> None:
    """Refuse rules that cannot hold for the packets of a setting.

    Raises:
        PydanticCustomError: one cannot.
    """
    if ipv6 and any(link.nat for link in path.links):
        raise wrong("path.nat", 'a NAT translates IPv4: leave out family = "ipv6"')
    for direction in (way for link in path.links for way in (link.down, link.up)):
        if ipv6 and (mtu := direction.carries) and mtu.size < SMALLEST_MTU_IPV6:
            told = (
                f"every link carries {SMALLEST_MTU_IPV6} B of IPv6 (RFC 8200), not {mtu.size} only"
            )
            raise wrong("path.mtu" if direction.mtu else "path.tunnel", told)
        if offload and (key := next(_of_single_packets(direction), None)):
            raise wrong(f"path.{key}", "packets of up to 64 kB cross the path: leave out offload")


def _of_single_packets(direction: Direction) -> Iterator[str]:
    """Keys of rules that take a packet of 64 kB for one that is too long, or would never let it pass."""
    udp, policer = direction.udp, direction.policer
    if direction.carries:
        yield "mtu" if direction.mtu else "tunnel"
    if policer and policer.burst < _LARGEST_PACKET:
        yield "policer"
    if udp and (udp.longest or udp.loss or (udp.burst and udp.burst < _LARGEST_PACKET)):
        yield "udp"
