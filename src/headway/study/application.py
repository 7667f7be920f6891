"""Requests for an application behind a server, and not for its files."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.units import Duration

_NONE = Duration(0)
TAKEN = 200
"""Status of an answer to content that was taken."""


@dataclass(frozen=True)
class Application:
    """What answers requests.

    Attributes:
        path: that they ask for.
        service: what it takes for each answer, one after the other, as one worker does.
        delay: how long each answer takes in addition, in parallel with others.
        streams: whether it makes its answers over time.
        websockets: whether it answers messages of WebSocket.
        files: whether it has the server's files, too.
        record_bytes: of the largest TLS record in which it sends them, if it serves them itself; None leaves it to TLS.
        status: of its answers to requests with content.
        header_bytes: names and values of header fields that each answer has besides.
        header_changes: whether each answer has other ones.
        early: whether such an answer goes once the head has come, and not once all content has.
    """

    path: str
    service: Duration = _NONE
    delay: Duration = _NONE
    streams: bool = False
    websockets: bool = False
    files: bool = False
    record_bytes: int | None = None
    status: int = TAKEN
    early: bool = False
    header_bytes: int = 0
    header_changes: bool = False

    @property
    def takes_content(self) -> bool:
        """Whether it takes the content of a request, all of it."""
        return self.status == TAKEN and not self.early

    @property
    def only_counts(self) -> bool:
        """Whether it does nothing but say how much content came."""
        return self.takes_content and not (self.service or self.delay)
