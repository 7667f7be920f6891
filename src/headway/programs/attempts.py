"""Attempts of headway-client to connect, and where it came to (RFC 8305)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from headway.programs.base import Flow
from headway.programs.measurement import Measurement, QuicRace, Tried
from headway.programs.talks import NativeRequest
from headway.study.family import HostAddress
from headway.study.host import Protocol


class _NativeAttempt(BaseModel):
    protocol: str
    remote: str
    connect_start_s: float

    @property
    def family(self) -> str:
        return str(HostAddress(self.remote.rpartition(":")[0].strip("[]")).family)


class NativeConnection(_NativeAttempt):
    """A connection, as the client reports it, with the attempts to begin it if there were several places to try."""

    tried: list[_NativeAttempt] = []


@dataclass(frozen=True)
class CameTo:
    """What the connection of the first response tells; as `Measurement` has it."""

    spoken: str | None = None
    race: QuicRace | None = None
    tried: tuple[Tried, ...] = ()
    won: str | None = None

    def told_in(self, measurement: Measurement) -> Measurement:
        """A measurement with this."""
        return replace(
            measurement, spoken=self.spoken, race=self.race, tried=self.tried, won=self.won
        )


def came_to_of(
    requests: Sequence[NativeRequest],
    connections: Sequence[NativeConnection],
    flow: Flow,
    *,
    falls_back: bool,
) -> CameTo:
    """What became of a client's attempts to connect, one of which succeeded.

    Args:
        requests: all that were made.
        connections: in the order of their numbers.
        flow: what it was asked to do.
        falls_back: whether it was to try TCP beside QUIC.
    """
    answered = [request for request in requests if request.first_byte_s is not None]
    first = min(answered, key=lambda native_request: native_request.first_byte_s or 0, default=None)
    if first is None or first.connection is None:
        return CameTo()
    connection = connections[first.connection - 1]
    tried = connection.tried or [connection]
    chooses = flow.other_address is not None
    return CameTo(
        spoken=connection.protocol if flow.discovery else None,
        race=_race(connection, tried) if falls_back else None,
        tried=tuple(
            Tried(native_attempt.family, native_attempt.connect_start_s) for native_attempt in tried
        )
        if chooses
        else (),
        won=connection.family if chooses else None,
    )


def _race(connection: NativeConnection, tried: Sequence[_NativeAttempt]) -> QuicRace | None:
    """QUIC beside TCP, if the client began with QUIC."""
    first, *later = tried
    if first.protocol != Protocol.H3:
        return None
    if connection.protocol == Protocol.H3:
        return QuicRace(lost=False, wait_s=0.0)
    over_tcp = next(
        native_attempt for native_attempt in later if native_attempt.protocol != Protocol.H3
    )
    return QuicRace(lost=True, wait_s=over_tcp.connect_start_s - first.connect_start_s)
