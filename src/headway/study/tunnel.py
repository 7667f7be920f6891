"""A tunnel over a link: what encapsulation adds to each packet, and how much less then fits."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.middlebox import LARGEST_MTU, SMALLEST_MTU, Mtu
from headway.study.units import Size

_MOST_OVERHEAD = LARGEST_MTU - SMALLEST_MTU


class TunnelKind(StrEnum):
    """What packets are put into."""

    IPIP = "ipip"
    GRE = "gre"
    VXLAN = "vxlan"
    WIREGUARD = "wireguard"


class Outer(StrEnum):
    """The version of IP by which the tunnel's own packets go."""

    IPV4 = "ipv4"
    IPV6 = "ipv6"


_OUTER_HEADER_BYTES = {Outer.IPV4: 20, Outer.IPV6: 40}
_INNER_BYTES = {
    TunnelKind.IPIP: 0,  # RFC 2003
    TunnelKind.GRE: 4,  # RFC 2784, without checksum, key and sequence number
    TunnelKind.VXLAN: 8 + 8 + 14,  # RFC 7348: UDP, VXLAN, and the inner frame's header
    TunnelKind.WIREGUARD: 8 + 16 + 16,  # UDP, the transport message's header, its tag
}
"""Between the tunnel's IP header and the packet, and behind it."""


_KINDS = ", ".join(f'"{tunnel_kind}"' for tunnel_kind in TunnelKind)
_FORMS = f'{_KINDS}, or its overhead: "60 B"'


def _tunnel(value: object) -> object:
    if value is False:
        return None
    if isinstance(value, str):
        return {"overhead" if value[:1].isdecimal() else "kind": value}
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f'{value} has no unit; write "{value} B"')
    if not isinstance(value, dict | Part | None):
        raise ValueError(f"a tunnel is {_FORMS}; false is none")
    return value


class Tunnel(Part):
    """What each packet costs more on the wire, and what is left of the link's MTU for it.

    The bytes are counted, not sent: a link needs no second pair of addresses. WireGuard's padding of short
    packets to 16 bytes is left out.
    """

    other_forms = (
        {"enum": [tunnel_kind.value for tunnel_kind in TunnelKind]},
        Size.json_schema(),
        {"const": False},
    )

    kind: TunnelKind | None = None
    over: Outer = Field(
        default=Outer.IPV4, description="the version of IP by which the tunnel's own packets go"
    )
    overhead: Size | None = Field(default=None, description="of each packet, if no kind says it")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.kind is None) == (self.overhead is None):
            raise ValueError(f"a tunnel is {_FORMS}")
        if self.overhead is not None and "over" in self.model_fields_set:
            raise wrong("over", "an overhead of bytes has its outer header in it; leave out over")
        if not 0 < self.each <= _MOST_OVERHEAD:
            raise wrong("overhead", f"an overhead is 1 B to {_MOST_OVERHEAD} B, not {self.each}")
        return self

    @property
    def each(self) -> Size:
        """What is added to each packet, bytes."""
        if self.kind is None:
            return self.overhead or Size(0)
        return Size(_OUTER_HEADER_BYTES[self.over] + _INNER_BYTES[self.kind])

    def __str__(self) -> str:
        if self.kind is None:
            return f"of {self.each}"
        return f"{self.kind}{' over IPv6' if self.over is Outer.IPV6 else ''}"


TunnelSource = Annotated[Tunnel | None, BeforeValidator(_tunnel)]


def carried(mtu: Mtu | None, tunnel: Tunnel | None) -> Mtu | None:
    """The largest packet that a link carries within its tunnel, if it has one; None if any that hosts send.

    Raises:
        PydanticCustomError: that is none that a link can have.
    """
    if tunnel is None:
        if mtu and mtu.size > LARGEST_MTU:
            raise wrong("mtu", f"hosts send packets of up to {LARGEST_MTU} B: leave out mtu")
        return mtu
    size = (int(mtu.size) if mtu else LARGEST_MTU) - tunnel.each
    if not SMALLEST_MTU <= size <= LARGEST_MTU:
        reason = (
            f"the tunnel leaves packets of {size} B; they have {SMALLEST_MTU} B to {LARGEST_MTU} B"
        )
        raise wrong("mtu", reason)
    return Mtu(size=Size(size), icmp=mtu.icmp if mtu else True)
