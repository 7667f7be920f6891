"""QUIC connections in a capture: their packets, opened with the keys of a key log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from headway.diagnosis.quic_frames import Reader
from headway.instruments.interop.datagram import Datagram
from headway.instruments.interop.frames import CRYPTO, QuicFrame, parsed
from headway.instruments.interop.handshake import CryptoStream
from headway.instruments.interop.protection import (
    VERSION_1,
    VERSION_2,
    Opened,
    Protection,
    initial_protection,
    is_known,
    is_whole_retry,
)

INITIAL, ZERO_RTT, HANDSHAKE, RETRY = "Initial", "0-RTT", "Handshake", "Retry"
ONE_RTT, NEGOTIATION = "1-RTT", "Version Negotiation"
_TYPES = {
    VERSION_1: (INITIAL, ZERO_RTT, HANDSHAKE, RETRY),
    VERSION_2: (RETRY, INITIAL, ZERO_RTT, HANDSHAKE),
}
"""RFC 9000, section 17.2; RFC 9369, section 3.2."""
_LONG_HEADER = 0x80
_INTEGRITY_TAG_BYTES = 16

KeyLog = Mapping[bytes, Mapping[str, bytes]]
"""Secrets by the client's random number and their label."""


def key_log(text: str) -> dict[bytes, dict[str, bytes]]:
    """A key log in NSS's format; lines that are none are left out."""
    secrets = dict[bytes, dict[str, bytes]]()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].isupper():
            try:
                random, secret = bytes.fromhex(words[1]), bytes.fromhex(words[2])
            except ValueError:
                continue
            secrets.setdefault(random, {})[words[0]] = secret
    return secrets


@dataclass(frozen=True)
class Header:
    """What everybody can read of a packet (RFC 9000, section 17).

    Attributes:
        kind: its type.
        version: of a long header; None of a short one.
        destination: its destination connection ID; of a short header as long as the receiver's are.
        source: the source connection ID of a long header.
        token: of Initial and Retry.
        number_at: where its packet number begins.
        end: where the packet ends in its datagram.
    """

    kind: str
    version: int | None
    destination: bytes
    source: bytes
    token: bytes
    number_at: int
    end: int


@dataclass(frozen=True)
class Packet:
    """A packet of a connection.

    Attributes:
        datagram: which carried it.
        header: what everybody can read.
        size_bytes: of the packet, protection included.
        opened: number, first byte and payload; None without keys, and of packets without any.
        frames: of the payload.
    """

    datagram: Datagram
    header: Header
    size_bytes: int
    opened: Opened | None
    frames: tuple[QuicFrame, ...] = ()

    @property
    def kind(self) -> str:
        """Its type."""
        return self.header.kind

    @property
    def of_client(self) -> bool:
        """Whether the client sent it."""
        return self.datagram.of_client

    @property
    def at_ns(self) -> int:
        """When the capture saw it."""
        return self.datagram.at_ns

    @property
    def is_sealed(self) -> bool:
        """Whether it has a payload that nobody could open."""
        return self.opened is None and self.kind not in (RETRY, NEGOTIATION)


@dataclass
class Connection:
    """A connection, as a capture has it.

    Attributes:
        log: the secrets that are known.
        opens_short: whether packets with a short header are opened, which takes most of the time; other ones always are.
        number: of the connection, from 0, in the order of their first packets.
        packets: in the order of the capture.
        crypto: the CRYPTO streams, by whether they are the client's and the type of packets; the client's from before a
            Retry is that of the type ``Retry``.
    """

    log: KeyLog
    opens_short: bool = True
    number: int = 0
    packets: list[Packet] = field(default_factory=list)
    crypto: dict[tuple[bool, str], CryptoStream] = field(default_factory=dict)
    _ids: list[bytes] = field(default_factory=list)
    """To which the client sent Initials: each gives keys of Initials."""
    _own_ids: set[bytes] = field(default_factory=set)
    """Connection IDs that the server chose in long headers."""
    _lengths: dict[bool, int] = field(default_factory=dict)
    """Of the connection IDs in short headers that the client, or the server, sends."""
    _keys: dict[tuple[bool, str, int], tuple[Protection, ...]] = field(default_factory=dict)

    def stream(self, kind: str, *, of_client: bool) -> CryptoStream:
        """The CRYPTO stream of packets of a type."""
        return self.crypto.setdefault((of_client, kind), CryptoStream())

    @property
    def has_secrets(self) -> bool:
        """Whether the key log has any of this connection."""
        return bool(self._secrets)

    @property
    def server_ids(self) -> frozenset[bytes]:
        """Connection IDs that the server chose during the handshake."""
        return frozenset(self._own_ids)

    @property
    def _secrets(self) -> Mapping[str, bytes]:
        random = self.stream(INITIAL, of_client=True).client_random
        return self.log.get(random, {}) if random else {}

    @property
    def first_id(self) -> bytes:
        """To which the client sent its first Initial."""
        return self._ids[0] if self._ids else b""

    def knows(self, destination: bytes) -> bool:
        """Whether an Initial to a connection ID may be of this connection."""
        return destination in self._ids or destination in self._own_ids

    def take(self, datagram: Datagram) -> list[Packet]:
        """The packets of a datagram of this connection, which are its from now on."""
        packets = list(self._packets(datagram))
        self.packets += packets
        return packets

    def opens(self, datagram: Datagram) -> bool:
        """Whether a datagram that begins with a short header opens with the connection's keys."""
        first = datagram.content[:1]
        if not first or first[0] & _LONG_HEADER:
            return False
        header = self._short(datagram.content, 0, datagram.of_client)
        return self._open(header, datagram.content, datagram.of_client) is not None

    def _packets(self, datagram: Datagram) -> Iterator[Packet]:
        content, at, of_client = datagram.content, 0, datagram.of_client
        # A datagram may be padded. A packet may begin with 0, too, if its QUIC bit is greased (RFC 9287).
        while at < len(content) and content[at:].strip(b"\0"):
            try:
                is_long = content[at] & _LONG_HEADER
                header = (
                    long_header(content, at) if is_long else self._short(content, at, of_client)
                )
            except IndexError:
                return
            packet = content[at : header.end]
            if header.kind == RETRY and not self._is_whole(header, packet):
                return
            skips = header.version is None and not self.opens_short
            opened = None if skips else self._noted(header, packet, of_client, at)
            frames = parsed(opened.payload) if opened else ()
            for frame in frames:
                if frame.kind == CRYPTO:
                    stream = self.stream(header.kind, of_client=of_client)
                    stream.add(frame.values[0], frame.data)
            yield Packet(datagram, header, len(packet), opened, frames)
            at = header.end

    def _is_whole(self, header: Header, retry: bytes) -> bool:
        """Whether a Retry was not spoilt on its way."""
        version = header.version or 0
        return any(is_whole_retry(retry, version, identity) for identity in self._ids)

    def _short(self, content: bytes, at: int, of_client: bool) -> Header:
        number_at = at + 1 + self._lengths.get(of_client, 0)
        identity = content[at + 1 : number_at]
        return Header(ONE_RTT, None, identity, b"", b"", number_at, len(content))

    def begins_with(self, header: Header, datagram: Datagram) -> bool:
        """Whether a client's Initial may begin this connection: it opens with the keys of its own connection ID.

        One that was spoilt on its way does not.
        """
        packet = datagram.content[: header.end]
        return self._noted(header, packet, datagram.of_client, 0) is not None

    def _noted(self, header: Header, packet: bytes, of_client: bool, begins: int) -> Opened | None:
        """Open a packet, and learn from its header unless it was spoilt."""
        is_first = of_client and header.kind == INITIAL and header.destination not in self._ids
        if is_first:
            self._ids.append(header.destination)
        opened = self._open(header, packet, of_client, begins)
        if opened is None and is_first:
            self._ids.remove(header.destination)
        if header.kind == RETRY and RETRY not in (kind for _, kind in self.crypto):
            # The client begins anew, with a ClientHello that should be the same (section 17.2.5.3).
            self.crypto[True, RETRY] = self.stream(INITIAL, of_client=True)
            self.crypto[True, INITIAL] = CryptoStream()
        if header.kind == RETRY or (opened and header.version is not None):
            self._lengths[not of_client] = len(header.source)
            if not of_client:
                self._own_ids.add(header.source)
        return opened

    def _open(
        self, header: Header, packet: bytes, of_client: bool, begins: int = 0
    ) -> Opened | None:
        if header.kind in (RETRY, NEGOTIATION):
            return None
        version = header.version
        if version is not None and not is_known(version):
            return None
        for protection in self._candidates(header.kind, version, of_client):
            if opened := protection.opened(packet, header.number_at - begins):
                return opened
        return None

    def _candidates(self, kind: str, version: int | None, of_client: bool) -> Iterable[Protection]:
        if kind == INITIAL:
            return self._initial(version or VERSION_1, of_client)
        return self._logged(kind, version, of_client)

    def _initial(self, version: int, of_client: bool) -> Iterator[Protection]:
        for place in range(len(self._ids) - 1, -1, -1):
            key = (of_client, f"{INITIAL} {place}", version)
            if key not in self._keys:
                self._keys[key] = (
                    initial_protection(self._ids[place], version, of_client=of_client),
                )
            yield from self._keys[key]

    def _logged(self, kind: str, version: int | None, of_client: bool) -> tuple[Protection, ...]:
        # A short header does not say the version: the handshake's was the last one seen.
        if version is None:
            handshake = [key[2] for key in self._keys if key[1] == HANDSHAKE and self._keys[key]]
            version = handshake[-1] if handshake else VERSION_1
        key = (of_client, kind, version)
        if not self._keys.get(key):
            end = "CLIENT" if of_client else "SERVER"
            label = {
                HANDSHAKE: f"{end}_HANDSHAKE_TRAFFIC_SECRET",
                ONE_RTT: f"{end}_TRAFFIC_SECRET_0",
                ZERO_RTT: "CLIENT_EARLY_TRAFFIC_SECRET",
            }[kind]
            self._keys[key] = tuple(_protections(self._secrets.get(label), version))
        return self._keys[key]


def _protections(secret: bytes | None, version: int) -> Iterator[Protection]:
    """A key log does not tell the cipher: a secret of 48 bytes leaves one, of 32 bytes two."""
    if secret is not None:
        yield Protection(secret, "aes", version)
        if len(secret) == 32:
            yield Protection(secret, "chacha20", version)


def long_header(content: bytes, at: int) -> Header:
    """The long header of the packet at a place of a datagram.

    Raises:
        IndexError: it is cut off.
    """
    reader = Reader(content, at + 1)
    version = int.from_bytes(reader.take(4))
    destination = reader.take(reader.take(1)[0])
    source = reader.take(reader.take(1)[0])
    if version == 0:
        end = len(content)
        return Header(NEGOTIATION, version, destination, source, b"", end, end)
    kind = _TYPES.get(version, _TYPES[VERSION_1])[content[at] >> 4 & 3]
    if kind == RETRY:
        token = content[reader.at : -_INTEGRITY_TAG_BYTES]
        return Header(kind, version, destination, source, token, len(content), len(content))
    token = reader.take(reader.integer()) if kind == INITIAL else b""
    length = reader.integer()
    end = min(reader.at + length, len(content))
    return Header(kind, version, destination, source, token, reader.at, end)
