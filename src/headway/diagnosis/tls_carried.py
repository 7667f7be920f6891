"""Contents of TCP segments: the TLS records that they have a part of, as far as they say it in the clear."""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.diagnosis.quic_frames import handshake_message

_CHANGE_CIPHER_SPEC, _HANDSHAKE, _APPLICATION_DATA = 20, 22, 23
_NAMES = {
    _CHANGE_CIPHER_SPEC: "ChangeCipherSpec",
    21: "alert",
    _HANDSHAKE: "encrypted",
    _APPLICATION_DATA: "encrypted",
}
_HEADER_BYTES, _MESSAGE_HEADER_BYTES = 5, 4
_HELLOS = (1, 2)
_WRAP = 1 << 32


@dataclass(frozen=True)
class TlsRecord:
    """A record: where it begins and ends in its stream, and what it is."""

    begins: int
    ends: int
    name: str


@dataclass
class TlsReader:
    """Reads one direction of a TCP connection, whatever comes again or out of order."""

    _first: int | None = None
    _bytes: bytearray = field(default_factory=bytearray)
    _later: dict[int, bytes] = field(default_factory=dict)
    _records: list[TlsRecord] = field(default_factory=list)
    _changed_cipher: bool = False

    def synchronised(self, sequence: int) -> None:
        """The stream begins behind a SYN with this sequence number."""
        self._first = (sequence + 1) % _WRAP

    def names(self, sequence: int, data: bytes) -> tuple[str, ...]:
        """What a segment has a part of; nothing if that is not known yet."""
        if self._first is None:
            self._first = sequence
        begins = (sequence - self._first) % _WRAP
        self._later[begins] = data
        self._join()
        ends = begins + len(data)
        texts = (
            record.name for record in self._records if record.begins < ends and begins < record.ends
        )
        return tuple(dict.fromkeys(texts))

    def _join(self) -> None:
        while True:
            have = len(self._bytes)
            due = [at for at in self._later if at <= have]
            if not due:
                break
            for at in due:
                self._bytes += self._later.pop(at)[have - at if have > at else 0 :][: 1 << 20]
                have = len(self._bytes)
        self._read()

    def _read(self) -> None:
        at = self._records[-1].ends if self._records else 0
        while at + _HEADER_BYTES < len(self._bytes):
            kind = self._bytes[at]
            length = int.from_bytes(self._bytes[at + 3 : at + 5])
            begin = at + _HEADER_BYTES
            head = bytes(self._bytes[begin : begin + _MESSAGE_HEADER_BYTES])
            clear = kind == _HANDSHAKE and (not self._changed_cipher or _is_hello(head, length))
            name = handshake_message(head[0]) if clear else _NAMES.get(kind, "data")
            self._changed_cipher |= kind == _CHANGE_CIPHER_SPEC
            self._records.append(TlsRecord(at, at + _HEADER_BYTES + length, name))
            at += _HEADER_BYTES + length


def _is_hello(head: bytes, record_bytes: int) -> bool:
    """Whether a record behind a ChangeCipherSpec is in the clear all the same, after a HelloRetryRequest of TLS 1.3.

    In TLS 1.2 handshake messages are encrypted there, and keep the record's type.
    """
    length = int.from_bytes(head[1:])
    return head[0] in _HELLOS and length + _MESSAGE_HEADER_BYTES == record_bytes
