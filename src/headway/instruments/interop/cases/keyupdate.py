"""A client that updates its keys."""

from __future__ import annotations

from headway.instruments.interop.case import MIB, InteropCase
from headway.instruments.interop.connection import ONE_RTT
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.trace import CapturedQuic
from headway.overriding import override


class KeyUpdate(InteropCase):
    """Both sides send packets of both key phases."""

    name = "keyupdate"
    abbreviation = "U"
    place = 11
    server_name = "transfer"
    description = "One of the two endpoints updates keys and the peer responds correctly."
    sizes = (3 * MIB,)
    needs_keys = True

    @override
    def check(self, evidence: CaseEvidence) -> str:
        for trace, of_client, who in (
            (evidence.client, True, "client"),
            (evidence.server, False, "server"),
        ):
            phases = _phases(trace, of_client=of_client)
            if not phases[1]:
                raise CheckError(
                    f"the {who} sent {phases[0]} packets of key phase 0 and none of phase 1"
                )
        return ""


def _phases(trace: CapturedQuic, *, of_client: bool) -> tuple[int, int]:
    packets = [packet.opened for packet in trace.of(ONE_RTT, of_client=of_client) if packet.opened]
    updated = sum(packet.phase for packet in packets)
    return len(packets) - updated, updated


CASE = KeyUpdate()
