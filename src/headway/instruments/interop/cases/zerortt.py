"""Requests in 0-RTT packets of a resumed connection."""

from __future__ import annotations

from headway.instruments.interop.case import Case
from headway.instruments.interop.connection import ONE_RTT, ZERO_RTT
from headway.instruments.interop.evidence import Evidence, Failure
from headway.overriding import override

_FILES = 40


class ZeroRtt(Case):
    """Most of what the client asks for is early data."""

    name = "zerortt"
    abbreviation = "Z"
    description = "0-RTT data is being sent and acted on."
    sizes = (32,) * _FILES
    handshakes = 2

    @property
    @override
    def name_letters(self) -> int:
        return 250

    @override
    def check(self, evidence: Evidence) -> str:
        early, late = (
            sum(packet.size_bytes for packet in evidence.client.of(kind, of_client=True))
            for kind in (ZERO_RTT, ONE_RTT)
        )
        if not early:
            raise Failure("the client sent no 0-RTT packet")
        if late > (most := self.name_letters * _FILES // 2):
            raise Failure(
                f"the client sent {late} bytes in 1-RTT packets and {early} in 0-RTT packets: more than {most} bytes "
                "are requests that were not early data, or that the server did not accept"
            )
        return ""


CASE = ZeroRtt()
