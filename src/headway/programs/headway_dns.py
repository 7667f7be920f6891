"""headway-dns, Headway's own resolver: answers from a file, and tells what it was asked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from headway.contract.program import Program
from headway.programs.base import CERTIFICATE_FILE, KEY_FILE, Adapter, Resolver, Started
from headway.programs.native import command
from headway.study.dns import Dns, DnsTransport
from headway.study.family import HostAddress

PROGRAM = "headway-dns"
REPORT = "questions.jsonl"
"""Its report in the run's directory; docs/native-dns.md describes it."""
_IDLE_TIME = "600s"
"""How long a connection may be idle, as QUIC's in studies: the run's limit decides when to give up."""
PORT = 53
HTTPS_PORT = 443


class HeadwayDns(Adapter):
    """Headway's own resolver."""

    name = PROGRAM
    package = PROGRAM
    protocols = frozenset()


def resolving(
    resolver: Resolver, namespace: str, hosts: Mapping[str, Sequence[HostAddress]]
) -> Started:
    """How a resolver is started.

    Args:
        resolver: where, and what a study says of it.
        namespace: of its host.
        hosts: addresses of the names that are asked for, the server's or the page's own first.
    """
    zone = f"/run/{PROGRAM}.json"
    argv = (
        command(PROGRAM),
        f"--listen={resolver.address.at(PORT)}",
        *_https(resolver),
        f"--zone={zone}",
        f"--delay={resolver.dns.delay.ns}ns",
        f"--idle-time={_IDLE_TIME}",
        f"--report=/lab/run/{REPORT}",
    )
    listens = (f"tcp:{PORT}", f"udp:{PORT}", *(("tcp:443",) if _https(resolver) else ()))
    program = Program(
        f"{namespace}-{PROGRAM}", namespace, argv, service=True, finishes=True, listens=listens
    )
    return Started((program,), {zone: json.dumps(_zone(resolver.dns, hosts))})


def _https(resolver: Resolver) -> tuple[str, ...]:
    """How it answers over HTTPS, if it is asked so."""
    if resolver.dns.transport is not DnsTransport.HTTPS:
        return ()
    address = f"--https={resolver.address.at(HTTPS_PORT)}"
    return (address, f"--cert={CERTIFICATE_FILE}", f"--key={KEY_FILE}")


def _zone(dns: Dns, hosts: Mapping[str, Sequence[HostAddress]]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    first = next(iter(hosts))
    for host, addresses in hosts.items():
        way = (host, *(dns.cname if host == first else ()))
        names |= {text: {"alias": after} for text, after in itertools.pairwise(way)}
        names[way[-1]] = {"addresses": list(addresses), "https": _services(dns, addresses)}
    if dns.silent:
        names = {name: {"silent": True} for name in names}
    return {
        "ttl_s": dns.ttl.ns // 10**9,
        "names": {} if dns.unknown else names,
        "drops": [drop.value for drop in dns.drops],
    }


def _services(dns: Dns, addresses: Sequence[HostAddress]) -> list[dict[str, Any]]:
    if dns.https is None:
        return []
    service: dict[str, Any] = {"priority": 1, "alpn": list(dns.https.alpn)}
    if dns.https.port is not None:
        service["port"] = dns.https.port
    if dns.https.hints:
        service["hints"] = list(addresses)
    return [service]
