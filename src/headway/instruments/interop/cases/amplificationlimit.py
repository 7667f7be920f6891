"""A server with a long certificate chain, whose client is silent for a while."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.connection import HANDSHAKE
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.scenario import Scenario
from headway.overriding import override

_LEAST_CRYPTO_BYTES = 7500
_LIMIT, _TOLERATED = 3, 4


class AmplificationLimit(InteropCase):
    """Until its client's address is validated, a server sends three times what it received (RFC 9000, section 8.1)."""

    name = "amplificationlimit"
    abbreviation = "A"
    place = 13
    client_name = server_name = "transfer"
    description = "The server obeys the 3x amplification limit."
    scenario = Scenario(lost_up=(2, 3, 4, 5, 6, 7), certificate_bytes=10_000)
    sizes = (5 * KIB,)
    needs_keys = True
    differs = "the chain is long by names in one certificate, and not by nine certificates"

    @override
    def check(self, evidence: CaseEvidence) -> str:
        (connection,) = evidence.completed
        sent = connection.stream(HANDSHAKE, of_client=False).end
        if sent < _LEAST_CRYPTO_BYTES:
            raise CheckError(
                f"the server sent {sent} bytes of CRYPTO: it does not use the certificate chain it was given"
            )
        return _obeys(evidence)


def _obeys(evidence: CaseEvidence) -> str:
    """Whether no datagram of the server went beyond the limit, before the client proved its address."""
    validated_ns = min(packet.at_ns for packet in evidence.server.of(HANDSHAKE, of_client=True))
    received = sent = 0
    worst = 0.0
    for datagram in evidence.server.datagrams:
        if datagram.at_ns >= validated_ns:
            break
        if datagram.of_client:
            received += len(datagram.content)
            continue
        sent += len(datagram.content)
        worst = max(worst, sent / received)
        if sent > _TOLERATED * received:
            raise CheckError(
                f"the server had sent {sent} bytes when it had received {received}: {sent / received:.1f} times as many"
            )
    return f"{worst:.2f} times, which the runner tolerates" if worst > _LIMIT else ""


CASE = AmplificationLimit()
