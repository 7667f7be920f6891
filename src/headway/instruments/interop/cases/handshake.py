"""A handshake, and a small file."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, Case
from headway.instruments.interop.evidence import Evidence, Failure
from headway.overriding import override


class Handshake(Case):
    """One handshake without a Retry."""

    name = "handshake"
    abbreviation = "H"
    place = 1
    description = "Handshake completes successfully."
    sizes = (KIB,)

    @override
    def check(self, evidence: Evidence) -> str:
        if evidence.retries:
            raise Failure("the server sent a Retry, which this case does not ask for")
        return ""


CASE = Handshake()
