"""A handshake over a round trip of 1.5 s."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.connection import INITIAL
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override


class LongRtt(InteropCase):
    """The client sends its ClientHello again while it waits."""

    name = "longrtt"
    abbreviation = "LR"
    place = 3
    client_name = server_name = "handshake"
    description = "Handshake completes when RTT is long."
    scenario = Scenario(delay_ms=750)
    sizes = (KIB,)

    @override
    def check(self, evidence: CaseEvidence) -> str:
        (connection,) = evidence.completed or evidence.client.connections[:1]
        hellos = connection.stream(INITIAL, of_client=True).sent
        if hellos < 2:
            raise CheckError(
                f"the client sent its ClientHello {hellos} time, and an answer takes 1.5 s: its probe timeout "
                "(RFC 9002, section 6.2) has to send it again"
            )
        return ""


CASE = LongRtt()
