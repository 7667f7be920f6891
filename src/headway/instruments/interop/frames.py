"""Frames of QUIC packets with what they hold (RFC 9000, section 19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.diagnosis.quic_frames import INTEGERS, RESET_TOKEN_BYTES, Reader

PADDING, PING, ACK, ACK_ECN, RESET_STREAM, STOP_SENDING, CRYPTO = range(0x07)
PATH_CHALLENGE, PATH_RESPONSE = 0x1A, 0x1B
CONNECTION_CLOSE, APPLICATION_CLOSE = 0x1C, 0x1D
_NEW_TOKEN = 0x07
_STREAM = range(0x08, 0x10)
_NEW_CONNECTION_ID = 0x18
_EMPTY = (PING, 0x1E, 0x1F)
_DATAGRAMS = (0x30, 0x31)
_PATH_BYTES = 8


@dataclass(frozen=True)
class QuicFrame:
    """A frame.

    Attributes:
        kind: its type.
        values: its integers, in their order; of an acknowledgment the largest packet number alone, of CRYPTO and
            STREAM the offset, of STREAM the stream before it.
        data: its bytes: of CRYPTO and STREAM the content, of a close the reason.
    """

    kind: int
    values: tuple[int, ...] = ()
    data: bytes = b""

    @property
    def is_stream(self) -> bool:
        """Whether it carries data of a stream."""
        return self.kind in _STREAM


def parsed(payload: bytes) -> tuple[QuicFrame, ...]:
    """The frames of a payload without PADDING, up to one of an unknown type, which has no content."""
    return tuple(_frames(payload))


def _frames(payload: bytes) -> Iterator[QuicFrame]:
    reader = Reader(payload)
    try:
        while reader.left:
            if not payload[reader.at]:
                # Most of what a client's Initials hold.
                rest = payload[reader.at :]
                reader.at += len(rest) - len(rest.lstrip(b"\0"))
                continue
            kind = reader.integer()
            frame = _frame(kind, reader)
            if frame is None:
                yield QuicFrame(kind)
                return
            yield frame
    except IndexError:
        return


def _frame(kind: int, reader: Reader) -> QuicFrame | None:
    """A frame of a type; None if nobody knows how long it is."""
    if kind in _EMPTY:
        return QuicFrame(kind)
    if kind in (ACK, ACK_ECN):
        return _acknowledgment(kind, reader)
    if kind == CRYPTO:
        offset = reader.integer()
        return QuicFrame(kind, (offset,), reader.take(reader.integer()))
    if kind in _STREAM:
        return _stream(kind, reader)
    if kind in INTEGERS:
        return QuicFrame(kind, tuple(reader.integer() for _ in range(INTEGERS[kind])))
    if kind in (PATH_CHALLENGE, PATH_RESPONSE):
        return QuicFrame(kind, (), reader.take(_PATH_BYTES))
    if kind == _NEW_TOKEN:
        return QuicFrame(kind, (), reader.take(reader.integer()))
    if kind == _NEW_CONNECTION_ID:
        numbers = (reader.integer(), reader.integer())
        identity = reader.take(reader.take(1)[0])
        reader.take(RESET_TOKEN_BYTES)
        return QuicFrame(kind, numbers, identity)
    if kind in (CONNECTION_CLOSE, APPLICATION_CLOSE):
        values = tuple(reader.integer() for _ in range(2 if kind == CONNECTION_CLOSE else 1))
        return QuicFrame(kind, values, reader.take(reader.integer()))
    if kind in _DATAGRAMS:
        length = reader.integer() if kind & 1 else len(reader.data) - reader.at
        return QuicFrame(kind, (), reader.take(length))
    return None


def _acknowledgment(kind: int, reader: Reader) -> QuicFrame:
    largest = reader.integer()
    reader.integer()
    ranges = reader.integer()
    for _ in range(1 + 2 * ranges):
        reader.integer()
    counts = tuple(reader.integer() for _ in range(3)) if kind == ACK_ECN else ()
    return QuicFrame(kind, (largest, *counts))


def _stream(kind: int, reader: Reader) -> QuicFrame:
    stream = reader.integer()
    offset = reader.integer() if kind & 0x04 else 0
    length = reader.integer() if kind & 0x02 else len(reader.data) - reader.at
    return QuicFrame(kind, (stream, offset), reader.take(length))
