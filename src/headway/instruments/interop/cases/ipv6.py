"""A transfer over IPv6 alone."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override
from headway.study.family import Family


class Ipv6(InteropCase):
    """No packet of QUIC is one of IPv4."""

    name = "ipv6"
    abbreviation = "6"
    place = 18
    client_name = server_name = "transfer"
    description = "A transfer across an IPv6-only network succeeded."
    scenario = Scenario(families=(Family.IPV6,))
    sizes = (5 * KIB, 10 * KIB)
    host = "server6"

    @override
    def check(self, evidence: CaseEvidence) -> str:
        if count := sum(not each.is_ipv6 for each in evidence.server.datagrams):
            raise CheckError(f"{count} datagrams came over IPv4")
        return ""


CASE = Ipv6()
