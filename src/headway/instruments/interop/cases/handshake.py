"""A handshake, and a small file."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.overriding import override


class Handshake(InteropCase):
    """One handshake without a Retry."""

    name = "handshake"
    abbreviation = "H"
    place = 1
    description = "Handshake completes successfully."
    sizes = (KIB,)

    @override
    def check(self, evidence: CaseEvidence) -> str:
        if evidence.retries:
            raise CheckError("the server sent a Retry, which this case does not ask for")
        return ""


CASE = Handshake()
