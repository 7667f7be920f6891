"""The reason of a closed QUIC connection: the error that an end gave its peer, as its qlog has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from headway.contract.names import QLOG_DIRECTORY
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_forms import Event
from headway.diagnosis.qlog_text import table
from headway.diagnosis.quic_errors import CRYPTO_ERRORS, HTTP3_ERRORS, TRANSPORT_ERRORS
from headway.errors import HeadwayError

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
        if self.space == "transport" and self.code in CRYPTO_ERRORS:
            return f"{self.code:#x} CRYPTO_ERROR of the TLS alert {self.code - CRYPTO_ERRORS.start}"
        names = TRANSPORT_ERRORS if self.space == "transport" else HTTP3_ERRORS
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
