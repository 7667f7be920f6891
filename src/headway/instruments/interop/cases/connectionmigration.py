"""A client that goes over to the server's preferred address."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.connection import ONE_RTT
from headway.instruments.interop.datagram import Place
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.paths import check_validation
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override
from headway.study.family import Family


class ConnectionMigration(InteropCase):
    """The server states a preferred address (RFC 9000, section 9.6), and the client migrates to it."""

    name = "connectionmigration"
    abbreviation = "CM"
    place = 22
    client_name = "transfer"
    description = "A transfer succeeded during which the client performed an active migration."
    scenario = Scenario(families=(Family.IPV4, Family.IPV6))
    sizes = (2 * MIB,)
    host = "server46"
    needs_keys = True

    @override
    def check(self, evidence: CaseEvidence) -> str:
        remark = check_validation(evidence)
        used: dict[tuple[Place, Place], bytes] = {}
        for packet in evidence.client.of(ONE_RTT, of_client=True):
            path, identity = packet.datagram.path, packet.header.destination
            if path not in used and identity in used.values():
                raise CheckError(
                    f"the client's first packet to {path[1][0]} has connection ID {identity.hex()}, which it used on "
                    "its former path (RFC 9000, section 9.5)"
                )
            used.setdefault(path, identity)
        return remark


CASE = ConnectionMigration()
