"""Compatible version negotiation to QUIC version 2 (RFC 9368, RFC 9369)."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.connection import HANDSHAKE, INITIAL
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.protection import VERSION_1, VERSION_2
from headway.instruments.interop.trace import CapturedQuic
from headway.overriding import override


class Version2(InteropCase):
    """The client begins with version 1, and the server goes over to version 2."""

    name = "v2"
    abbreviation = "V2"
    place = 19
    description = "Server should select QUIC v2 in compatible version negotiation."
    sizes = (KIB,)

    @override
    def check_versions(self, evidence: CaseEvidence) -> None:
        if VERSION_1 not in _versions(evidence.client, INITIAL, of_client=True):
            raise CheckError("the client sent no Initial of version 1")
        if VERSION_2 not in _versions(evidence.server, INITIAL, of_client=False):
            raise CheckError(
                "the server sent no Initial of version 2 (0x6b3343cf): it stayed with version 1"
            )
        for trace, of_client, who in (
            (evidence.client, True, "client"),
            (evidence.server, False, "server"),
        ):
            versions = _versions(trace, HANDSHAKE, of_client=of_client)
            if versions != {VERSION_2}:
                shown = ", ".join(map(hex, sorted(versions))) or "none"
                raise CheckError(
                    f"the {who}'s Handshake packets are of version {shown}, and not of 0x6b3343cf alone"
                )


def _versions(trace: CapturedQuic, kind: str, *, of_client: bool) -> set[int]:
    return {packet.header.version or 0 for packet in trace.of(kind, of_client=of_client)}


CASE = Version2()
