"""A server that validates addresses."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.connection import INITIAL, RETRY, Packet
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.overriding import override


class Retry(InteropCase):
    """The server sends a Retry, and the client comes back with its token."""

    name = "retry"
    abbreviation = "S"
    place = 6
    description = "Server sends a Retry, and a subsequent connection using the Retry token completes successfully."
    sizes = (10 * KIB,)

    @override
    def check(self, evidence: CaseEvidence) -> str:
        tokens = evidence.retries
        if not tokens:
            raise CheckError("the server sent no Retry")
        initials = evidence.client.of(INITIAL, of_client=True)
        before = [packet for packet in initials if not packet.header.token]
        using = [packet for packet in initials if packet.header.token in tokens]
        if not using:
            raise CheckError("no Initial of the client has the token of a Retry")
        if (first := _number(using[0])) <= (highest := max(map(_number, before), default=-1)):
            raise CheckError(
                f"the Initial with the token has packet number {first}, and {highest} was used before: it must not "
                "begin anew (RFC 9000, section 17.2.5.3)"
            )
        (connection,) = evidence.completed
        hellos = {connection.stream(kind, of_client=True).content for kind in (INITIAL, RETRY)}
        if len(hellos) > 1:
            return "the client sent another ClientHello after the Retry, against RFC 9000, section 17.2.5.3"
        return ""


def _number(packet: Packet) -> int:
    return packet.opened.number if packet.opened else -1


CASE = Retry()
