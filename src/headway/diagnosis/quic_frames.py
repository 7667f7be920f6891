"""Frames of a QUIC packet's payload, in words: RFC 9000, section 19, and extensions that stacks use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_CRYPTO = 0x06
_STREAM = range(0x08, 0x10)
_NAMES = {
    0x00: "PADDING",
    0x01: "PING",
    0x02: "ACK",
    0x03: "ACK",
    0x04: "RESET_STREAM",
    0x05: "STOP_SENDING",
    0x06: "CRYPTO",
    0x07: "NEW_TOKEN",
    **dict.fromkeys(_STREAM, "STREAM"),
    0x10: "MAX_DATA",
    0x11: "MAX_STREAM_DATA",
    0x12: "MAX_STREAMS",
    0x13: "MAX_STREAMS",
    0x14: "DATA_BLOCKED",
    0x15: "STREAM_DATA_BLOCKED",
    0x16: "STREAMS_BLOCKED",
    0x17: "STREAMS_BLOCKED",
    0x18: "NEW_CONNECTION_ID",
    0x19: "RETIRE_CONNECTION_ID",
    0x1A: "PATH_CHALLENGE",
    0x1B: "PATH_RESPONSE",
    0x1C: "CONNECTION_CLOSE",
    0x1D: "CONNECTION_CLOSE",
    0x1E: "HANDSHAKE_DONE",
    0x1F: "IMMEDIATE_ACK",
    0x30: "DATAGRAM",
    0x31: "DATAGRAM",
    0xAF: "ACK_FREQUENCY",
}
INTEGERS = {
    0x04: 3,
    0x05: 2,
    0x10: 1,
    0x11: 2,
    0x12: 1,
    0x13: 1,
    0x14: 1,
    0x15: 2,
    0x16: 1,
    0x17: 1,
    0x19: 1,
    0xAF: 4,
}
"""Frames that are so many integers of variable length."""
_BYTES = {0x1A: 8, 0x1B: 8}
_MESSAGES = {
    1: "ClientHello",
    2: "ServerHello",
    4: "NewSessionTicket",
    8: "EncryptedExtensions",
    11: "Certificate",
    12: "ServerKeyExchange",
    13: "CertificateRequest",
    14: "ServerHelloDone",
    15: "CertificateVerify",
    16: "ClientKeyExchange",
    20: "Finished",
    22: "CertificateStatus",
    25: "CompressedCertificate",
}
RESET_TOKEN_BYTES = 16


class Reader:
    """Reads integers and bytes, one after the other.

    Raises:
        IndexError: there are not so many.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    @property
    def left(self) -> bool:
        """Whether anything is."""
        return self.at < len(self.data)

    def integer(self) -> int:
        """An integer of variable length (RFC 9000, section 16)."""
        length = 1 << (self.data[self.at] >> 6)
        return int.from_bytes(self.take(length)) & ((1 << (8 * length - 2)) - 1)

    def take(self, count: int) -> bytes:
        """So many bytes."""
        if count > len(self.data) - self.at:
            raise IndexError("the packet ends within a frame")
        self.at += count
        return self.data[self.at - count : self.at]


def handshake_message(kind: int) -> str:
    """Name of a TLS handshake message by its type (RFC 8446, section 4; RFC 5246, section 7.4; RFC 6066, section 8)."""
    return _MESSAGES.get(kind, f"handshake message {kind}")


def frames(payload: bytes) -> tuple[str, ...]:
    """Names of the frames of a payload, each once, PADDING left out; what CRYPTO and STREAM carry is said."""
    reader, result, hello = Reader(payload), dict[str, None](), list[tuple[int, bytes]]()
    while reader.left:
        kind = reader.integer()
        if kind not in _NAMES:
            result[f"frame {kind:#x}"] = None
            break
        if kind == _CRYPTO:
            hello.append((reader.integer(), reader.take(reader.integer())))
            result[_NAMES[kind]] = None
        elif text := _read(reader, kind):
            result[f"{_NAMES[kind]} {text}"] = None
        elif kind:
            result[_NAMES[kind]] = None
    crypto = (
        {_NAMES[_CRYPTO]: f"{_NAMES[_CRYPTO]} ({', '.join(_messages(hello))})"} if hello else {}
    )
    return tuple(crypto.get(name, name) for name in result)


def _messages(pieces: Sequence[tuple[int, bytes]]) -> Iterator[str]:
    """Handshake messages that begin in pieces of the stream; if none is known to, where the first piece is."""
    names = dict.fromkeys(name for offset, data in pieces if offset == 0 for name in _begun(data))
    yield from names or (f"from byte {min(offset for offset, _ in pieces)}",)


def _begun(data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        yield handshake_message(data[at])
        at += 4 + int.from_bytes(data[at + 1 : at + 4])


def _read(reader: Reader, kind: int) -> str:
    """Go over a frame's content; which stream it is of, if it is of one."""
    if kind in (0x02, 0x03):
        _acknowledgment(reader, with_ecn=kind == 0x03)
    elif kind in _STREAM:
        return _stream(reader, kind)
    elif kind in (0x07, 0x31):
        reader.take(reader.integer())
    elif kind == 0x30:
        reader.at = len(reader.data)
    elif kind == 0x18:
        reader.integer()
        reader.integer()
        reader.take(reader.take(1)[0] + RESET_TOKEN_BYTES)
    elif kind in (0x1C, 0x1D):
        for _ in range(2 if kind == 0x1C else 1):
            reader.integer()
        reader.take(reader.integer())
    else:
        for _ in range(INTEGERS.get(kind, 0)):
            reader.integer()
        reader.take(_BYTES.get(kind, 0))
    return ""


def _acknowledgment(reader: Reader, *, with_ecn: bool) -> None:
    for _ in range(2):
        reader.integer()
    ranges = reader.integer()
    for _ in range(1 + 2 * ranges + (3 if with_ecn else 0)):
        reader.integer()


def _stream(reader: Reader, kind: int) -> str:
    number = reader.integer()
    if kind & 0x04:
        reader.integer()
    length = reader.integer() if kind & 0x02 else len(reader.data) - reader.at
    reader.take(length)
    return f"{number}{' FIN' if kind & 0x01 else ''}"
