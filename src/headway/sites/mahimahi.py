"""Sites that Mahimahi recorded: directories in which each file is an exchange (``mm-webrecord``).

A file is a message of Protocol Buffers: address (1), port (2), scheme (3), request (4) and response (5); these have a
first line (1), header fields (2), which are name (1) and value (2), and a body (3).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.files import read_regular
from headway.sites.captured import RecordedFile
from headway.sites.rawpairs import RawPair, captured_pairs

_SCHEMES = {1: "http", 2: "https"}
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_FIXED = {_FIXED_64: 8, _FIXED_32: 4}

_Fields = defaultdict[int, list[int | bytes]]


def read_mahimahi(directory: Path) -> RecordedFile:
    """What a directory holds that ``mm-webrecord`` filled.

    Raises:
        WrongInputError: there is no file, or one cannot be read or is none of Mahimahi's.
    """
    pairs = []
    for file in sorted(directory.iterdir()):
        try:
            if file.is_file() and not file.name.startswith("."):
                pairs.append(_pair(read_regular(file)))
        except (ValueError, IndexError) as error:
            message = (
                "not an exchange that Mahimahi recorded; a directory is read as a site of mm-webrecord, "
                "with nothing else in it"
            )
            raise WrongInputError(message, where=str(file)) from error
    if not pairs:
        message = (
            "a directory without files; one that mm-webrecord of Mahimahi filled can be read, and of another one the "
            "files are to be named"
        )
        raise WrongInputError(message, where=str(directory))
    return RecordedFile(captured_pairs(pairs))


def _pair(data: bytes) -> RawPair:
    """An exchange.

    Raises:
        ValueError: the data is none.
    """
    exchange = _fields(data)
    scheme = _SCHEMES.get(_number(exchange, 3))
    if scheme is None:
        raise ValueError("no scheme")
    return RawPair(_message(_bytes(exchange, 4)), _message(_bytes(exchange, 5)), scheme)


def _message(data: bytes) -> bytes:
    """A message as HTTP/1.1 has it."""
    message = _fields(data)
    lines = [_bytes(message, 1)]
    for header in message[2]:
        field = _fields(header if isinstance(header, bytes) else b"")
        lines.append(_bytes(field, 1) + b": " + _bytes(field, 2))
    body = _bytes(message, 3) if message[3] else b""
    return b"\r\n".join(line.strip(b"\r\n") for line in lines) + b"\r\n\r\n" + body


def _number(fields: _Fields, number: int) -> int:
    value = fields[number][-1] if fields[number] else 0
    return value if isinstance(value, int) else 0


def _bytes(fields: _Fields, number: int) -> bytes:
    value = fields[number][-1] if fields[number] else b""
    if not isinstance(value, bytes):
        raise ValueError(f"field {number} is a number")
    return value


def _fields(data: bytes) -> _Fields:
    """Fields of a message of Protocol Buffers, by number.

    Raises:
        ValueError: the data is none, or ends too early.
    """
    fields: _Fields = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            fields[key >> 3].append(value)
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise ValueError(f"no wire type {kind}")
        if at + size > len(data):
            raise ValueError("it ends too early")
        fields[key >> 3].append(data[at : at + size])
        at += size
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number is too long")
