"""Families of addresses: which a lab's hosts have, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address, ip_network

from headway.study.queue import ETHERNET_HEADER_BYTES, FRAME_BYTES

_HOSTS_OF_A_NETWORK = 250
_MTU_BYTES = FRAME_BYTES - ETHERNET_HEADER_BYTES


@dataclass(frozen=True)
class _Plan:
    """What a family's addresses are in a lab.

    Attributes:
        lab: network of all wires.
        origins: network of the addresses that a server's host may have beside its own.
        prefix: bits of a single wire's network.
        bits: of an address.
        header_bytes: of a packet, without options and extensions.
        unspecified: the address that stands for any.
    """

    lab: str
    origins: str
    prefix: int
    bits: int
    header_bytes: int
    unspecified: str


class Family(StrEnum):
    """A version of the Internet Protocol."""

    IPV4 = "ipv4"
    IPV6 = "ipv6"

    @property
    def label(self) -> str:
        """What people call it."""
        return f"IPv{self.version}"

    @property
    def version(self) -> int:
        return {Family.IPV4: 4, Family.IPV6: 6}[self]

    @property
    def other(self) -> Family:
        """The one that a host of both families has beside this one."""
        return Family.IPV6 if self is Family.IPV4 else Family.IPV4

    @property
    def lab_network(self) -> str:
        """That of all wires."""
        return _PLANS[self].lab

    @property
    def origins_network(self) -> str:
        """Addresses that a server's host may have beside its own."""
        return _PLANS[self].origins

    def chosen_network(self) -> str:
        """That of all wires between hosts of both families: of IPv6, which programs prefer, any."""
        return self.everywhere if self is Family.IPV6 else self.lab_network

    @property
    def everywhere(self) -> str:
        """The network of all addresses."""
        return f"{_PLANS[self].unspecified}/0"

    @property
    def unspecified(self) -> HostAddress:
        """Where a program listens that is to be reached by any address."""
        return HostAddress(_PLANS[self].unspecified)

    @property
    def header_bytes(self) -> int:
        """How long a packet's header is."""
        return _PLANS[self].header_bytes

    @property
    def udp_payload_bytes(self) -> int:
        """The most that a datagram carries in a full frame."""
        return _MTU_BYTES - self.header_bytes - 8

    @property
    def tcp_payload_bytes(self) -> int:
        """What a segment carries in a full frame, with the time stamps that Linux sends in each (RFC 7323)."""
        return _MTU_BYTES - self.header_bytes - 20 - 12

    @property
    def payload_share(self) -> float:
        """The same of the frame's bytes."""
        return self.tcp_payload_bytes / FRAME_BYTES

    def network(self, wire: int, *, both: bool = False) -> str:
        """The network of a wire, by its number; ``both`` if its hosts have both families."""
        plan = _plan(self, both=both)
        return f"{_within(plan.lab, plan, wire, 0)}/{plan.prefix}"

    def address(self, wire: int, host: int, *, both: bool = False) -> HostAddress:
        """The address of a host on a wire, both by their numbers."""
        plan = _plan(self, both=both)
        return _within(plan.lab, plan, wire, host)

    @property
    def origins_of_a_flow(self) -> int:
        """How many of a page's hosts may have an address of their own, of each of several flows."""
        return 2 * _HOSTS_OF_A_NETWORK

    def origin(self, number: int) -> HostAddress:
        """The address of one of a page's hosts, which all hosts of a lab route to the server."""
        network, host = divmod(number, _HOSTS_OF_A_NETWORK)
        return _within(_PLANS[self].origins, _PLANS[self], network, host + 1)


class HostAddress(str):
    """A host's address; as a text it stands by itself."""

    __slots__ = ()

    @property
    def family(self) -> Family:
        return Family.IPV6 if ":" in self else Family.IPV4

    @property
    def in_url(self) -> str:
        """As the host of a URL (RFC 3986, section 3.2.2), and wherever else a port may follow."""
        return f"[{self}]" if self.family is Family.IPV6 else str(self)

    def at(self, port: int) -> str:
        """With a port."""
        return f"{self.in_url}:{port}"

    @property
    def in_network(self) -> str:
        """With the length of its wire's prefix."""
        return f"{self}/{_PLANS[self.family].prefix}"

    @property
    def network(self) -> str:
        """That of its wire, or of up to 250 hosts of pages."""
        return str(ip_network(self.in_network, strict=False))

    @property
    def alone(self) -> str:
        """As a network of its own."""
        return f"{self}/{_PLANS[self.family].bits}"

    @property
    def migrated(self) -> HostAddress:
        """The address that its host changes to, in the same network."""
        return HostAddress(f"{self}1")


def narrowest(addresses: Iterable[HostAddress]) -> Family:
    """Of the families of some addresses, the one whose packets carry least."""
    families = (address.family for address in addresses)
    return min(families, key=lambda family: family.udp_payload_bytes)


_PLANS = {
    Family.IPV4: _Plan("10.0.0.0/16", "10.200.0.0/16", 24, 32, 20, "0.0.0.0"),
    # Of unique local addresses (RFC 4193), as the others are private.
    Family.IPV6: _Plan("fd00::/48", "fd00:0:1::/48", 64, 128, 40, "::"),
}


_GLOBAL = replace(_PLANS[Family.IPV6], lab="2001:db8::/48", origins="2001:db8:1::/48")
"""Of hosts with both families: programs prefer such addresses to IPv4, and IPv4 to unique local ones (RFC 6724, section 2.1)."""


def _plan(family: Family, *, both: bool) -> _Plan:
    return _GLOBAL if both and family is Family.IPV6 else _PLANS[family]


def _within(outer: str, plan: _Plan, network: int, host: int) -> HostAddress:
    """An address of one of the networks that an outer one consists of."""
    first = int(ip_network(outer).network_address)
    last_bits = plan.bits - plan.prefix
    return HostAddress(ip_address(first + (network << last_bits) + host))
