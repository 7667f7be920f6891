"""A second connection that resumes the session of the first."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.connection import HANDSHAKE, Connection
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.handshake import CERTIFICATE, COMPRESSED_CERTIFICATE
from headway.overriding import override


class Resumption(InteropCase):
    """The first file over one connection, the second over another, without a certificate."""

    name = "resumption"
    abbreviation = "R"
    place = 7
    description = "Connection is established using TLS Session Resumption."
    sizes = (5 * KIB, 10 * KIB)
    needs_keys = True
    handshakes = 2

    @override
    def check(self, evidence: CaseEvidence) -> str:
        first, second = evidence.completed
        if not _has_certificate(first):
            raise CheckError("the server sent no certificate in the first handshake")
        if _has_certificate(second):
            raise CheckError(
                "the server sent a certificate in the second handshake, which was to resume the first"
            )
        return ""


def _has_certificate(connection: Connection) -> bool:
    messages = connection.stream(HANDSHAKE, of_client=False).messages
    return any(kind in (CERTIFICATE, COMPRESSED_CERTIFICATE) for kind, _ in messages)


CASE = Resumption()
