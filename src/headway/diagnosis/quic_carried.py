"""Contents of QUIC datagrams: packets by their type, opened where their keys are known, and their frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headway.diagnosis.quic_frames import Reader, frames
from headway.diagnosis.quic_keys import PacketKeys, initial_keys, logged_keys

_LONG_HEADER = 0x80
_INITIAL, _RETRY = 0, 3
_TYPES = ("Initial", "0-RTT", "Handshake", "Retry")
_SHORT = "1-RTT"


@dataclass(frozen=True)
class QuicPacket:
    """A packet of a datagram: its type, and what it carries; nothing if it could not be opened."""

    kind: str
    frames: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {', '.join(self.frames)}" if self.frames else self.kind


@dataclass
class QuicReader:
    """Reads the datagrams of a connection in the order in which they were sent.

    Attributes:
        secrets: the client's key log; empty if there is none.
    """

    secrets: str
    _ids: list[bytes] = field(default_factory=list)
    """To which the client sent its Initials: each makes keys of Initials."""
    _lengths: dict[bool, int] = field(default_factory=dict)
    """Of the connection IDs in short headers that a client, or a server, sends."""
    _expected: dict[tuple[bool, str], int] = field(default_factory=dict)
    """One more than the largest packet number so far, by sender and type."""
    _keys: dict[bool, dict[str, tuple[PacketKeys, ...]]] = field(default_factory=dict)

    def packets(self, datagram: bytes, *, of_client: bool) -> tuple[QuicPacket, ...]:
        """The packets of a datagram; those that cannot be read are told by their type."""
        try:
            return tuple(self._packets(datagram, of_client))
        except IndexError:
            return (QuicPacket("datagram", ()),)

    def _packets(self, datagram: bytes, of_client: bool) -> Iterator[QuicPacket]:
        at = 0
        while at < len(datagram) and datagram[at] & _LONG_HEADER:
            kind, number_at, end = self._long_header(datagram, at, of_client)
            yield self._opened(_TYPES[kind], datagram[at:end], number_at - at, of_client)
            at = end
        # What follows padding of a whole datagram is no packet.
        if at < len(datagram) and datagram[at]:
            number_at = 1 + self._lengths.get(of_client, 0)
            yield self._opened(_SHORT, datagram[at:], number_at, of_client)

    def _long_header(self, datagram: bytes, at: int, of_client: bool) -> tuple[int, int, int]:
        """Type of a packet, and the places of its number and its end (RFC 9000, section 17.2)."""
        kind = datagram[at] >> 4 & 3
        reader = Reader(datagram, at + 5)
        destination = reader.take(reader.take(1)[0])
        source = reader.take(reader.take(1)[0])
        # Short headers from the other side have the connection ID that this side chose.
        self._lengths[not of_client] = len(source)
        if kind == _RETRY:
            return kind, len(datagram), len(datagram)
        if kind == _INITIAL:
            if of_client and destination not in self._ids:
                self._ids.append(destination)
            reader.take(reader.integer())
        length = reader.integer()
        return kind, reader.at, reader.at + length

    def _opened(self, kind: str, packet: bytes, number_at: int, of_client: bool) -> QuicPacket:
        space = of_client, kind
        for keys in self._candidates(kind, of_client):
            if pair := keys.opened(packet, number_at, self._expected.get(space, 0)):
                number, payload = pair
                self._expected[space] = max(self._expected.get(space, 0), number + 1)
                return QuicPacket(kind, frames(payload))
        return QuicPacket(kind, ())

    def _candidates(self, kind: str, of_client: bool) -> Sequence[PacketKeys]:
        if kind == _TYPES[_INITIAL]:
            return [initial_keys(data, of_client=of_client) for data in reversed(self._ids)]
        if of_client not in self._keys:
            self._keys[of_client] = logged_keys(self.secrets, of_client=of_client)
        return self._keys[of_client].get(kind, ())
