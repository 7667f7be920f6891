"""PNG images of an exact size in bytes, made without an image library.

An encoder's or zlib's next version may compress otherwise; here pixels are stored, not compressed
(RFC 1951, section 3.2.4), so that an image's bytes depend on its key and size alone.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from functools import cache

from headway.instruments.corpus.keystream import Keystream

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
_GREYSCALE, _TRUECOLOUR = 0, 2  # colour types
_GREY_BITS = (8, 4, 2, 1)


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
    width, height = _pixels(size_bytes - _FIXED_BYTES)
    stream = Keystream(f"png/{key}")
    header = struct.pack(">IIBBBBB", width, height, 8, _TRUECOLOUR, 0, 0, 0)
    return _file(size_bytes, header, _rows(width, height, stream), stream)


def grey_png(width: int, height: int, size_bytes: int, key: str) -> bytes:
    """An image of so many pixels in so many bytes: a grey gradient in dots.

    A pixel has 8, 4, 2 or 1 bits: the most for which the rows fit. Rows are painted as they arrive
    as those of `png` are.

    Args:
        width: in pixels.
        height: likewise.
        size_bytes: size of the whole file.
        key: decides the shades and the dots.

    Raises:
        ValueError: so many pixels do not fit in so many bytes.
    """
    room = size_bytes - _FIXED_BYTES
    fitting = (bits for bits in _GREY_BITS if height * _grey_row_bytes(width, bits) <= room)
    bits = next(fitting, None)
    if bits is None:
        raise ValueError(f"a PNG image of {width}x{height} cannot have {size_bytes} bytes")
    stream = Keystream(f"png/{key}")
    header = struct.pack(">IIBBBBB", width, height, bits, _GREYSCALE, 0, 0, 0)
    return _file(size_bytes, header, _grey_rows(width, height, bits, stream), stream)


def _file(size_bytes: int, header: bytes, rows: Sequence[bytes], stream: Keystream) -> bytes:
    """The file of that size: each row a stored block, and its share of empty blocks after it."""
    used = _FIXED_BYTES + sum(_BLOCK_BYTES + len(row) for row in rows)
    fillers, padding = divmod(size_bytes - used, len(_EMPTY_BLOCK))
    blocks = b"".join(
        _stored(row) + _EMPTY_BLOCK * _share(fillers, number, len(rows))
        for number, row in enumerate(rows)
    )
    checksum = struct.pack(">I", zlib.adler32(b"".join(rows)))
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", _ZLIB_HEADER + blocks + _FINAL_BLOCK + checksum),
            _chunk(b"hwPd", stream.take(padding)),
            _chunk(b"IEND", b""),
        )
    )


def _row_bytes(width: int) -> int:
    return _BLOCK_BYTES + 1 + 3 * width


def _grey_row_bytes(width: int, bits: int) -> int:
    return _BLOCK_BYTES + 1 + -(-width * bits // 8)


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


def _grey_rows(width: int, height: int, bits: int, stream: Keystream) -> list[bytes]:
    """Rows as above, of pixels that are lighter the more often their dots' bytes are large."""
    top, bottom = stream.take(2)
    most = 2**bits - 1
    row_bits = -(-width * bits // 8) * 8
    rows = []
    for number in range(height):
        level = (top * (height - number) + bottom * number) // height
        packed = 0
        for dot in stream.take(width):
            packed = packed << bits | (level * most + dot) // 256
        packed <<= row_bits - width * bits
        rows.append(b"\0" + packed.to_bytes(row_bits // 8))
    return rows


@cache
def _levels(level: int) -> bytes:
    return bytes(level + byte % _NOISE for byte in range(256))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
