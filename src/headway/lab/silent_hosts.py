"""Quiet hosts: settings that keep them from sending anything by themselves.

Each solicitation of a neighbour or a router, and each report of a multicast group, would consume a draw of the loss
sequence. All neighbours are known for ever; what else there would be depends on the family.
"""

from __future__ import annotations

from headway.lab.values import Quiet
from headway.study.family import Family

_OFF = {
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}
_NO_OWN_ADDRESSES = {
    # A device has the addresses that it is given, and none of the link alone, with which routers are asked for.
    "net.ipv6.conf.all.addr_gen_mode": "1",
}


def quiet_sysctls(family: Family) -> dict[str, str]:
    """What a host's namespace is set to, so that only packets of the workload leave it."""
    return dict(_OFF if family is Family.IPV4 else _NO_OWN_ADDRESSES)


def quiet(family: Family, device: str) -> tuple[Quiet, ...]:
    """What a device needs for that before it is switched on; of IPv4, nothing."""
    return () if family is Family.IPV4 else (Quiet(device),)
