"""PNG images of an exact size in bytes, made without an image library.

An encoder's or zlib's next version may compress otherwise; here pixels are stored, not compressed
(RFC 1951, section 3.2.4), so that an image's bytes depend on its key and size alone.
"""

from __future__ import annotations

import math
import struct
import zlib
from functools import cache

from headway.web.corpus.keystream import Keystream

MIN_PNG_BYTES = 100
"""The smallest size that is offered; one pixel takes 89 bytes."""

_MOST_WIDTH, _MOST_HEIGHT = 320, 240
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK_BYTES = 12  # length, type and CRC
_BLOCK_BYTES = 5  # the header of a stored block
_EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
_FINAL_BLOCK = b"\x01\x00\x00\xff\xff"
_ZLIB_HEADER = b"\x78\x01"
_FIXED_BYTES = (
    len(_SIGNATURE)
    + 4 * _CHUNK_BYTES  # IHDR, IDAT, padding, IEND
    + 13  # content of IHDR
    + len(_ZLIB_HEADER)
    + len(_FINAL_BLOCK)
    + 4  # Adler-32
)
_NOISE = 32


def png(size_bytes: int, key: str) -> bytes:
    """An image in 4:3: a gradient of two colours with noise on it.

    Up to 230 kB nearly all bytes are pixels, 3 bytes each. Larger images have 320x240 pixels, and
    empty stored blocks between their rows: they decode fast and still paint from top to bottom
    while they arrive, each row after its share of the bytes. The last few bytes are a private
    ancillary chunk.

    Args:
        size_bytes: size of the whole file; at least MIN_PNG_BYTES.
        key: decides the colours and the noise.
    """
    if size_bytes < MIN_PNG_BYTES:
        raise ValueError(f"a PNG image cannot have {size_bytes} bytes")
    room = size_bytes - _FIXED_BYTES
    width, height = _pixels(room)
    fillers, padding = divmod(room - height * _row_bytes(width), len(_EMPTY_BLOCK))
    stream = Keystream(f"png/{key}")
    rows = _rows(width, height, stream)
    blocks = b"".join(
        _stored(row) + _EMPTY_BLOCK * _share(fillers, number, height)
        for number, row in enumerate(rows)
    )
    checksum = struct.pack(">I", zlib.adler32(b"".join(rows)))
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            _chunk(b"IDAT", _ZLIB_HEADER + blocks + _FINAL_BLOCK + checksum),
            _chunk(b"hwPd", stream.take(padding)),
            _chunk(b"IEND", b""),
        )
    )


def _row_bytes(width: int) -> int:
    return _BLOCK_BYTES + 1 + 3 * width


def _pixels(room: int) -> tuple[int, int]:
    """The largest width and height in 4:3 whose rows fit, up to the limits."""
    if room >= _MOST_HEIGHT * _row_bytes(_MOST_WIDTH):
        return _MOST_WIDTH, _MOST_HEIGHT
    # With 3 * width <= 4 * height, rows take at most 4 * height^2 + 6 * height bytes.
    height = max(1, (math.isqrt(36 + 16 * room) - 6) // 8)
    return max(1, 4 * height // 3), height


def _share(total: int, number: int, parts: int) -> int:
    return total * (number + 1) // parts - total * number // parts


def _stored(data: bytes) -> bytes:
    length = len(data)
    return struct.pack("<BHH", 0, length, length ^ 0xFFFF) + data


def _rows(width: int, height: int, stream: Keystream) -> list[bytes]:
    """Rows of the image, each with its filter type 0 (none) in front."""
    top, bottom = stream.take(3), stream.take(3)
    rows = []
    for number in range(height):
        noise = stream.take(3 * width)
        pixels = bytearray(3 * width)
        for channel in range(3):
            mixed = top[channel] * (height - number) + bottom[channel] * number
            level = mixed * (256 - _NOISE) // (255 * height)
            pixels[channel::3] = noise[channel::3].translate(_levels(level))
        rows.append(b"\0" + pixels)
    return rows


@cache
def _levels(level: int) -> bytes:
    return bytes(level + byte % _NOISE for byte in range(256))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
