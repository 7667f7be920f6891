"""Rules of a path's MTUs, policers, rules for UDP and NATs: what they need of the packets that cross it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.study.base_model import wrong
from headway.study.edge import Edge
from headway.study.family import Family
from headway.study.middlebox import SMALLEST_MTU_IPV6
from headway.study.path import Direction, Path
from headway.study.rates import TraceRate
from headway.study.units import Duration

_LARGEST_PACKET = 65_535
"""With segmentation offload."""


def check_rules(edges: Iterable[Edge], limit: Duration, *, offload: bool) -> None:
    """Refuse rules that cannot hold for the packets of a setting.

    Args:
        edges: all of its network.
        limit: when a run is given up.
        offload: whether packets of up to 64 kB cross the paths.

    Raises:
        PydanticCustomError: one cannot; names the key.
    """
    edges = tuple(edges)
    families = {edge.family for edge in edges}
    ipv6, both = Family.IPV6 in families, len(families) > 1
    for edge in edges:
        key, path = edge.key, edge.path
        if path and ipv6 and any(link.nat for link in path.links):
            reason = "leave out dual_stack, or the NAT" if both else 'leave out family = "ipv6"'
            raise wrong(f"{key}.nat", f"a NAT translates IPv4: {reason}")
        if path:
            _check_packets(key, path, ipv6=ipv6, offload=offload)
            _check_moments(key, path, limit)


def _check_moments(where: str, path: Path, limit: Duration) -> None:
    """Refuse what would come when the run has been given up."""
    for nat in (link.nat for link in path.links if link.nat):
        if late := next((rebinding for rebinding in nat.rebindings if rebinding.at >= limit), None):
            reason = f"{late.at} is beyond limits.virtual ({limit})"
            raise wrong(f"{where}.nat.rebindings", reason)
    for name, direction in (
        (name, getattr(link, name)) for link in path.links for name in ("down", "up")
    ):
        times = direction.rate.opportunities_ms if isinstance(direction.rate, TraceRate) else ()
        if times and (first := Duration(times[0] * 10**6)) >= limit:
            reason = f"its first opportunity is after {first}, beyond limits.virtual ({limit}), after which a run is given up"
            raise wrong(f"{where}.{name}.rate.trace", reason)


def _check_packets(where: str, path: Path, *, ipv6: bool, offload: bool) -> None:
    """Refuse rules of a path, whose key is given, that are none for packets of the sizes that cross it."""
    for direction in (way for link in path.links for way in (link.down, link.up)):
        if ipv6 and (mtu := direction.carries) and mtu.size < SMALLEST_MTU_IPV6:
            reason = (
                f"every link carries {SMALLEST_MTU_IPV6} B of IPv6 (RFC 8200), not {mtu.size} only"
            )
            raise wrong(f"{where}.mtu" if direction.mtu else f"{where}.tunnel", reason)
        if offload and (key := next(_of_single_packets(direction), None)):
            raise wrong(
                f"{where}.{key}", "packets of up to 64 kB cross the path: leave out offload"
            )


def _of_single_packets(direction: Direction) -> Iterator[str]:
    """Keys of rules that take a packet of 64 kB for one that is too long, or would never let it pass."""
    udp, policer = direction.udp, direction.policer
    if direction.carries:
        yield "mtu" if direction.mtu else "tunnel"
    if policer and policer.burst < _LARGEST_PACKET:
        yield "policer"
    if udp and (udp.longest or udp.loss or (udp.burst and udp.burst < _LARGEST_PACKET)):
        yield "udp"
