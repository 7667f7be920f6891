"""Rules of nftables for packets that come to a router: what becomes of UDP, and of ECN fields."""

from __future__ import annotations

from collections.abc import Iterator

from headway.study.ecnchange import EcnChange
from headway.study.middlebox import Udp, UdpVerdict

ARRIVING = "arriving"
_MET = 'counter name "met"'


def ruled(table: str, device: str, rules: str) -> str:
    """A table of rules for what arrives. The counter is not the rules', which may come and go."""
    return (
        f"table netdev {table} {{ counter met {{ }}\nchain {ARRIVING} {{\n"
        f'type filter hook ingress device "{device}" priority 1;\n{rules}}}\n}}\n'
    )


def ecn_rules(change: EcnChange) -> Iterator[str]:
    """A packet leaves the table with the first that it meets, or a later one would change it back."""
    for before, after in change.written.items():
        for header in ("ip", "ip6"):
            yield f"{header} ecn {before} {_MET} {header} ecn set {after} accept"


def udp_rule(udp: Udp) -> str:
    """What becomes of a packet of UDP that is not policed."""
    if udp.loss is not None and udp.loss < 1:
        return f"meta l4proto udp numgen random mod 1000000 < {round(udp.loss * 1e6)} {_MET} drop"
    if udp.longest is not None:
        return f"meta l4proto udp meta length > {int(udp.longest)} {_MET} drop"
    rejected = udp.verdict is UdpVerdict.REJECTED
    does = "reject with icmpx type port-unreachable" if rejected else "drop"
    return f"meta l4proto udp {_MET} {does}"
