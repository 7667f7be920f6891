"""The reason of a closed QUIC connection: the error that an end gave its peer, as its qlog has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from headway.contract.names import QLOG_DIRECTORY
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_forms import Event
from headway.diagnosis.qlog_text import table
from headway.errors import HeadwayError

_TRANSPORT = dict(
    enumerate(
        [
            "NO_ERROR",
            "INTERNAL_ERROR",
            "CONNECTION_REFUSED",
            "FLOW_CONTROL_ERROR",
            "STREAM_LIMIT_ERROR",
            "STREAM_STATE_ERROR",
            "FINAL_SIZE_ERROR",
            "FRAME_ENCODING_ERROR",
            "TRANSPORT_PARAMETER_ERROR",
            "CONNECTION_ID_LIMIT_ERROR",
            "PROTOCOL_VIOLATION",
            "INVALID_TOKEN",
            "APPLICATION_ERROR",
            "CRYPTO_BUFFER_EXCEEDED",
            "KEY_UPDATE_ERROR",
            "AEAD_LIMIT_REACHED",
            "NO_VIABLE_PATH",
        ]
    )
)
"""RFC 9000, section 20.1."""
_APPLICATION = dict(
    enumerate(
        [
            "H3_NO_ERROR",
            "H3_GENERAL_PROTOCOL_ERROR",
            "H3_INTERNAL_ERROR",
            "H3_STREAM_CREATION_ERROR",
            "H3_CLOSED_CRITICAL_STREAM",
            "H3_FRAME_UNEXPECTED",
            "H3_FRAME_ERROR",
            "H3_EXCESSIVE_LOAD",
            "H3_ID_ERROR",
            "H3_SETTINGS_ERROR",
            "H3_MISSING_SETTINGS",
            "H3_REQUEST_REJECTED",
            "H3_REQUEST_CANCELLED",
            "H3_REQUEST_INCOMPLETE",
            "H3_MESSAGE_ERROR",
            "H3_CONNECT_ERROR",
            "H3_VERSION_FALLBACK",
        ],
        0x100,
    )
) | {
    0x200: "QPACK_DECOMPRESSION_FAILED",
    0x201: "QPACK_ENCODER_STREAM_ERROR",
    0x202: "QPACK_DECODER_STREAM_ERROR",
}
"""RFC 9114, section 8.1, and RFC 9204, section 6."""
_CRYPTO = range(0x100, 0x200)
"""RFC 9001, section 4.8: the last byte is TLS's alert."""
_CLEAN = {"transport": {0, "no_error"}, "application": {0, 0x100, "no_error", "h3_no_error"}}
_PEER = {"client": "server", "server": "client"}


class Closing(NamedTuple):
    """An error with which an end closed a connection; a code without a number is the program's word."""

    by: str
    space: str
    code: int | str

    @property
    def words(self) -> str:
        """``the server closed the connection with 0x104 H3_CLOSED_CRITICAL_STREAM (application)``."""
        return f"the {self.by} closed the connection with {self._named} ({self.space})"

    @property
    def _named(self) -> str:
        if isinstance(self.code, str):
            return self.code
        if self.space == "transport" and self.code in _CRYPTO:
            return f"{self.code:#x} CRYPTO_ERROR of the TLS alert {self.code - _CRYPTO.start}"
        names = _TRANSPORT if self.space == "transport" else _APPLICATION
        return f"{self.code:#x} {names.get(self.code, '')}".strip()


def closing_of(directory: Path) -> Closing | None:
    """The first error with which an end closed a connection of a run; None if no qlog tells of any."""
    place = directory / QLOG_DIRECTORY
    for file in sorted(place.glob("*/**/*qlog")):
        try:
            for trace in read_traces(file, lambda record: "connection_close" in record):
                events = list(trace.events)
                # In a document the header may follow the events.
                vantage = table(trace.header.get("vantage_point")).get("type")
                closings = (
                    closing for event in events for closing in _closings(event, str(vantage))
                )
                if first := next(closings, None):
                    return first
        except HeadwayError:
            continue
    return None


def _closings(event: Event, vantage: str) -> Iterator[Closing]:
    name, data = str(event.get("name", "")).rpartition(":")[2], table(event.get("data"))
    other = _PEER.get(vantage, "peer")
    if name == "connection_closed":
        by = other if data.get("owner") == "remote" else vantage
        yield from _error(by, "application", data.get("application_code"))
        yield from _error(by, "transport", data.get("connection_code"))
    elif name in ("packet_sent", "packet_received"):
        for frame in map(table, data.get("frames") or ()):
            if frame.get("frame_type") == "connection_close":
                code = frame.get("raw_error_code", frame.get("error_code"))
                by = vantage if name == "packet_sent" else other
                yield from _error(by, str(frame.get("error_space", "transport")), code)


def _error(by: str, space: str, code: Any) -> Iterator[Closing]:
    if isinstance(code, int | str) and code not in _CLEAN.get(space, ()):
        yield Closing(by, space, code)
