"""A transfer whose only cipher is ChaCha20."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.connection import INITIAL
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.handshake import CHACHA20, cipher_suites
from headway.overriding import override


class ChaCha20(InteropCase):
    """The client offers TLS_CHACHA20_POLY1305_SHA256 alone."""

    name = "chacha20"
    abbreviation = "C20"
    place = 4
    description = "Handshake completes using ChaCha20."
    sizes = (3 * MIB,)

    @override
    def check(self, evidence: CaseEvidence) -> str:
        for connection in evidence.completed or evidence.client.connections:
            hello = next(
                (body for _, body in connection.stream(INITIAL, of_client=True).messages), b""
            )
            suites = cipher_suites(hello)
            if suites != (CHACHA20,):
                offered = ", ".join(f"{suite:#06x}" for suite in suites)
                raise CheckError(
                    f"the client offered {offered or 'nothing'}, and not {CHACHA20:#06x} alone"
                )
        return ""


CASE = ChaCha20()
