"""Two thousand small files over one connection."""

from __future__ import annotations

from headway.diagnosis.quic_frames import Reader
from headway.instruments.interop.case import InteropCase
from headway.instruments.interop.connection import HANDSHAKE
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.handshake import (
    ENCRYPTED_EXTENSIONS,
    INITIAL_MAX_STREAMS_BIDI,
    transport_parameters,
)
from headway.overriding import override

_MOST_STREAMS = 1000


class Multiplexing(InteropCase):
    """The server raises its limit of streams as they end."""

    name = "multiplexing"
    abbreviation = "M"
    place = 5
    client_name = server_name = "transfer"
    description = "Thousands of files are transferred over a single connection, and server increased stream limits to accomodate client requests."
    sizes = (32,) * 1999
    needs_keys = True

    @override
    def check(self, evidence: CaseEvidence) -> str:
        for connection in evidence.completed:
            limit = _limit(dict(connection.stream(HANDSHAKE, of_client=False).messages))
            if limit is None:
                raise CheckError("the server's transport parameters were not seen")
            if limit > _MOST_STREAMS:
                raise CheckError(
                    f"the server allows {limit} streams at once (initial_max_streams_bidi), and more than "
                    f"{_MOST_STREAMS} leave nothing to be raised"
                )
        return ""


def _limit(messages: dict[int, bytes]) -> int | None:
    parameters = transport_parameters(messages.get(ENCRYPTED_EXTENSIONS, b""))
    data = parameters.get(INITIAL_MAX_STREAMS_BIDI)
    if data is None:
        return 0 if parameters else None
    return Reader(data, 0).integer()


CASE = Multiplexing()
