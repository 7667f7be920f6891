"""Messages of the TLS handshake that QUIC's CRYPTO streams carry (RFC 8446, section 4; RFC 9000, section 18)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from headway.diagnosis.quic_frames import Reader

CLIENT_HELLO, CERTIFICATE, ENCRYPTED_EXTENSIONS, COMPRESSED_CERTIFICATE = 1, 11, 8, 25
CHACHA20 = 0x1303
"""TLS_CHACHA20_POLY1305_SHA256."""
INITIAL_MAX_STREAMS_BIDI, PREFERRED_ADDRESS = 0x08, 0x0D
_TRANSPORT_PARAMETERS, _EARLY_DATA = 57, 42
_GREASE = 0x0A0A
_RANDOM = slice(6, 38)


@dataclass
class CryptoStream:
    """A CRYPTO stream, put in order.

    Attributes:
        sent: pieces that begin at byte 0: how often its beginning was sent.
        end: the highest offset that was sent.
    """

    sent: int = 0
    end: int = 0
    _pieces: dict[int, bytes] = field(default_factory=dict)

    def add(self, offset: int, data: bytes) -> None:
        """Take a piece of it."""
        self.sent += offset == 0
        self.end = max(self.end, offset + len(data))
        if len(data) > len(self._pieces.get(offset, b"")):
            self._pieces[offset] = data

    @property
    def content(self) -> bytes:
        """What it holds from its beginning on without a gap."""
        joined = bytearray()
        for offset in sorted(self._pieces):
            if offset > len(joined):
                break
            joined[offset:] = self._pieces[offset] + joined[offset + len(self._pieces[offset]) :]
        return bytes(joined)

    @property
    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Types and bodies of messages, of the last one as much as there is."""
        content, at = self.content, 0
        while at + 4 <= len(content):
            end = at + 4 + int.from_bytes(content[at + 1 : at + 4])
            yield content[at], content[at + 4 : end]
            at = end

    @property
    def client_random(self) -> bytes | None:
        """That of a ClientHello, by which a key log tells connections apart; None if it has not come."""
        content = self.content
        if len(content) < _RANDOM.stop or content[0] != CLIENT_HELLO:
            return None
        return content[_RANDOM]


def cipher_suites(hello: bytes) -> tuple[int, ...]:
    """The cipher suites that a ClientHello offers, without reserved values (RFC 8701)."""
    reader = Reader(hello, 34)
    try:
        reader.take(reader.take(1)[0])
        suites = reader.take(int.from_bytes(reader.take(2)))
    except IndexError:
        return ()
    numbers = (int.from_bytes(suites[at : at + 2]) for at in range(0, len(suites), 2))
    return tuple(number for number in numbers if number & 0x0F0F != _GREASE)


def transport_parameters(extensions: bytes) -> dict[int, bytes]:
    """The transport parameters in the body of EncryptedExtensions, by their numbers."""
    inner, parameters = (
        Reader(_extensions(extensions).get(_TRANSPORT_PARAMETERS, b""), 0),
        dict[int, bytes](),
    )
    try:
        while inner.left:
            number = inner.integer()
            parameters[number] = inner.take(inner.integer())
    except IndexError:
        pass
    return parameters


def accepts_early_data(extensions: bytes) -> bool:
    """Whether the body of EncryptedExtensions accepts early data (RFC 8446, section 4.2.10)."""
    return _EARLY_DATA in _extensions(extensions)


def _extensions(body: bytes) -> dict[int, bytes]:
    reader, extensions = Reader(body, 2), dict[int, bytes]()
    try:
        while reader.left:
            kind = int.from_bytes(reader.take(2))
            extensions[kind] = reader.take(int.from_bytes(reader.take(2)))
    except IndexError:
        pass
    return extensions
