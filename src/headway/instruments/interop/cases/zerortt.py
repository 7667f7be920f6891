"""Requests in 0-RTT packets of a resumed connection."""

from __future__ import annotations

from headway.instruments.interop.case import InteropCase
from headway.instruments.interop.connection import HANDSHAKE, ONE_RTT, ZERO_RTT, Connection
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.handshake import ENCRYPTED_EXTENSIONS, accepts_early_data
from headway.overriding import override

_FILES = 40


class ZeroRtt(InteropCase):
    """Most of what the client asks for is early data."""

    name = "zerortt"
    abbreviation = "Z"
    place = 8
    description = "0-RTT data is being sent and acted on."
    sizes = (32,) * _FILES
    needs_keys = True
    handshakes = 2
    differs = "counts bytes of streams, and not of whole packets with their acknowledgments"

    @property
    @override
    def name_letters(self) -> int:
        return 250

    @override
    def check(self, evidence: CaseEvidence) -> str:
        _, second = evidence.completed
        early, late = (_stream_bytes(second, kind) for kind in (ZERO_RTT, ONE_RTT))
        if not any(packet.kind == ZERO_RTT for packet in second.packets):
            raise CheckError("the client sent no 0-RTT packet")
        if late > (most := self.name_letters * _FILES // 2):
            extensions = dict(second.stream(HANDSHAKE, of_client=False).messages).get(
                ENCRYPTED_EXTENSIONS, b""
            )
            verb = "accepted" if accepts_early_data(extensions) else "did not accept"
            raise CheckError(
                f"the client sent {late} bytes of streams in 1-RTT packets, and {early} in 0-RTT packets, which the "
                f"server {verb} (EncryptedExtensions): more than {most}"
            )
        return ""


def _stream_bytes(connection: Connection, kind: str) -> int:
    """What the client sent of streams in packets of a type."""
    return sum(
        len(frame.data)
        for packet in connection.packets
        if packet.of_client and packet.kind == kind
        for frame in packet.frames
        if frame.is_stream
    )


CASE = ZeroRtt()
