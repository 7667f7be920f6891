"""A capture of one host as connections of QUIC and their packets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from headway.instruments.interop.connection import (
    INITIAL,
    Connection,
    Header,
    KeyLog,
    Packet,
    long_header,
)
from headway.instruments.interop.datagram import Datagram, Place

_LONG_HEADER = 0x80


@dataclass
class CapturedQuic:
    """What a host's device saw of QUIC.

    Attributes:
        log: the secrets that are known.
        opens_short: whether packets with a short header are opened.
        connections: in the order of their first packets.
        datagrams: all of them, in the order of the capture.
        strays: datagrams that are of no connection, such as what corruption made of them.
    """

    log: KeyLog
    opens_short: bool = True
    connections: list[Connection] = field(default_factory=list)
    datagrams: list[Datagram] = field(default_factory=list)
    strays: list[Datagram] = field(default_factory=list)
    _of_place: dict[Place, Connection] = field(default_factory=dict)

    @classmethod
    def read(
        cls, datagrams: Iterable[Datagram], log: KeyLog, *, opens_short: bool = True
    ) -> CapturedQuic:
        """Sort datagrams, in the order of a capture, into connections."""
        trace = cls(log, opens_short)
        for datagram in datagrams:
            trace.datagrams.append(datagram)
            connection = trace._connection(datagram)
            if connection is None:
                trace.strays.append(datagram)
            else:
                connection.take(datagram)
        return trace

    @property
    def packets(self) -> Iterator[Packet]:
        """Those of all connections, connection by connection."""
        for connection in self.connections:
            yield from connection.packets

    @property
    def in_order(self) -> list[Packet]:
        """The same in the order of the capture."""
        return sorted(self.packets, key=lambda packet: packet.at_ns)

    def of(self, kind: str, *, of_client: bool) -> list[Packet]:
        """The packets of a type that one side sent."""
        return [
            packet
            for packet in self.packets
            if packet.kind == kind and packet.of_client is of_client
        ]

    @property
    def has_keys(self) -> bool:
        """Whether the key log opens every connection whose handshake went on after its Initials."""
        shaken = [
            connection
            for connection in self.connections
            if any(packet.kind != INITIAL for packet in connection.packets)
        ]
        return all(connection.has_secrets for connection in shaken)

    def _connection(self, datagram: Datagram) -> Connection | None:
        """Whose a datagram is: of whom has its path, or of whom its keys open it."""
        place = datagram.client
        known = self._of_place.get(place)
        header = _header(datagram)
        if header and datagram.of_client and header.kind == INITIAL:
            if known and known.knows(header.destination):
                return known
            owner = self._owner(header) or self._begun(header, datagram)
            return self._placed(place, owner) if owner else known
        if known is not None:
            return known
        # Another path, such as that of a NAT's new mapping.
        if header:
            owner = self._owner(header)
        else:
            owners = (each for each in reversed(self.connections) if each.opens(datagram))
            owner = next(owners, None)
        return self._placed(place, owner) if owner else None

    def _owner(self, header: Header) -> Connection | None:
        """The connection to which a long header's IDs belong, if any is known."""
        return next(
            (each for each in reversed(self.connections) if each.knows(header.destination)), None
        )

    def _begun(self, header: Header, datagram: Datagram) -> Connection | None:
        """A connection that a client's Initial begins, unless it was spoilt on its way."""
        connection = Connection(self.log, self.opens_short, len(self.connections))
        if not connection.begins_with(header, datagram):
            return None
        self.connections.append(connection)
        return connection

    def _placed(self, place: Place, connection: Connection) -> Connection:
        self._of_place[place] = connection
        return connection


def _header(datagram: Datagram) -> Header | None:
    if not datagram.content or not datagram.content[0] & _LONG_HEADER:
        return None
    try:
        return long_header(datagram.content, 0)
    except IndexError:
        return None
