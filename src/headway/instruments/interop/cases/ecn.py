"""Marks of Explicit Congestion Notification, and their acknowledgment."""

from __future__ import annotations

from headway.instruments.interop.case import KIB, InteropCase
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.frames import ACK_ECN
from headway.instruments.interop.trace import CapturedQuic
from headway.overriding import override

_NOT_ECT, _CE = 0, 3


class Ecn(InteropCase):
    """Both sides mark their packets, and report the marks of the other."""

    name = "ecn"
    abbreviation = "E"
    place = 12
    description = "ECN marks are set and reported by both endpoints."
    sizes = (100 * KIB,)
    needs_keys = True
    differs = "reads the marks of datagrams over IPv6, too"

    @override
    def check(self, evidence: CaseEvidence) -> str:
        sides = (
            (evidence.client, True, "client"),
            (evidence.server, False, "server"),
        )
        for trace, of_client, who in sides:
            marks = [each.ecn for each in trace.datagrams if each.of_client is of_client]
            if all(mark == _NOT_ECT for mark in marks):
                raise CheckError(
                    f"the {who} marked none of its {len(marks)} datagrams ECT(0) or ECT(1)"
                )
            if count := marks.count(_CE):
                raise CheckError(
                    f"{count} datagrams left the {who} with CE, which only routers set"
                )
        for trace, of_client, who in sides:
            if not _reports(trace, of_client=of_client):
                other = "server" if of_client else "client"
                raise CheckError(
                    f"the {who} sent no ACK_ECN frame (type 0x03) for what the {other} marked"
                )
        return ""


def _reports(trace: CapturedQuic, *, of_client: bool) -> bool:
    return any(
        frame.kind == ACK_ECN
        for packet in trace.packets
        if packet.of_client is of_client
        for frame in packet.frames
    )


CASE = Ecn()
