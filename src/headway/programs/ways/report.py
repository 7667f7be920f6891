"""The report of headway-client, which docs/native-client-report.md describes."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from headway.programs.attempts import NativeConnection
from headway.programs.talks import NativeRequest
from headway.programs.videos import NativeSession


class NativeReport(BaseModel):
    """What the client measured; times are seconds since its start."""

    ended_s: float
    looked_up_s: float | None = None
    requests: list[NativeRequest]
    connections: list[NativeConnection] = []
    session: NativeSession | None = None

    @property
    def connected_s(self) -> float | None:
        """When the first connection was there."""
        return _least(request.connected_s for request in self.requests)

    @property
    def secured_s(self) -> float | None:
        """When the first TLS handshake was over."""
        return _least(request.secured_s for request in self.requests)

    @property
    def first_byte_s(self) -> float | None:
        """When the first response began."""
        return _least(request.first_byte_s for request in self.requests)


def _least(times_s: Iterable[float | None]) -> float | None:
    return min((time_s for time_s in times_s if time_s is not None), default=None)
