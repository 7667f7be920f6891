"""A link's NAT, on its router towards the client: what that is set to, and when it forgets its mappings.

Linux's "masquerade" maps connections that go out to the address of the device by which they do. It forgets all
mappings to an address that the device loses; that is how a rebinding is made. Routers and hosts beyond know the
NAT's second address beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.lab.direction import LinkWay, has_process
from headway.lab.values import Address, IpValue, Mapper, Neighbour, NewMappings, Route, TimedChange
from headway.study.family import HostAddress
from headway.study.nat import Nat, Rebound
from headway.study.path import Way

_LEFT = 1


def mapper(way: LinkWay) -> Mapper | None:
    """The NAT of a direction towards the server; None if it has none."""
    if not has_nat(way):
        return None
    unseen = way.place.before.right_device if has_process(way) else None
    return Mapper(way.place.inner.left_device, unseen)


def has_nat(way: LinkWay) -> bool:
    """Whether what comes to the queue's router has been translated there."""
    return way.way is Way.UP and way.nat is not None


def nat_sysctls(nat: Nat) -> dict[str, str]:
    """What the host of a NAT is set to."""
    udp, tcp = (str(idle // 10**9) for idle in (nat.udp_idle, nat.tcp_idle))
    return {
        # The device keeps its new address when it loses the old one.
        "net.ipv4.conf.all.promote_secondaries": "1",
        # Damaged packets are translated like others, and packets of TCP whatever their numbers are.
        "net.netfilter.nf_conntrack_checksum": "0",
        "net.netfilter.nf_conntrack_tcp_be_liberal": "1",
        "net.netfilter.nf_conntrack_udp_timeout": udp,
        "net.netfilter.nf_conntrack_udp_timeout_stream": udp,
        "net.netfilter.nf_conntrack_tcp_timeout_established": tcp,
        "net.netfilter.nf_conntrack_tcp_timeout_max_retrans": tcp,
        "net.netfilter.nf_conntrack_tcp_timeout_unacknowledged": tcp,
    }


def nat_addresses(nat: Nat, address: HostAddress) -> tuple[HostAddress, ...]:
    """The addresses that connections through a NAT come from; of its device, the first is given."""
    return (address, address.migrated) if nat.changes_address else (address,)


def known_beyond(way: LinkWay, namespace: str) -> Iterator[IpValue]:
    """What the router at the other end of a NAT's link has to know of its second address."""
    inner = way.place.inner
    if has_nat(way) and way.nat and way.nat.changes_address and namespace == inner.right:
        changed = inner.address(_LEFT).migrated
        yield Neighbour(changed, inner.mac(_LEFT), inner.right_device)


def rebindings(way: LinkWay, router: Sequence[IpValue]) -> Iterator[TimedChange]:
    """When the NAT of a direction forgets its mappings.

    Args:
        way: the direction.
        router: addresses and routes of its router.
    """
    mapping = mapper(way)
    if mapping is None or way.nat is None:
        return
    device = mapping.outside
    own = way.place.inner.address(_LEFT)
    routes = tuple(
        command for command in router if isinstance(command, Route) and command.table is None
    )
    old = Address(own, device)
    other = Address(own.migrated, device)
    for number, first in enumerate(way.nat.rebindings, start=1):
        new = other if first.what is Rebound.ADDRESS else old
        if first.at < way.until:
            change = NewMappings(mapping, number, old, new, other, routes)
            yield TimedChange(first.at, way.devices.queue_namespace, change)
        if first.what is Rebound.ADDRESS:
            old, other = other, old
