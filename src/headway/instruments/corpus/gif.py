"""GIF images of an exact size in bytes, for those that are smaller than a PNG can be."""

from __future__ import annotations

import struct

from headway.instruments.corpus.keystream import Keystream

_MOST_COMMENT_BYTES = 255
_ONE_PIXEL = b"\x02\x02\x44\x01\x00"  # 2-bit codes, a block of 2 bytes: clear, 0, end
_TRAILER = b";"


def gif(width: int, height: int, size_bytes: int, key: str) -> bytes:
    """An image with one pixel of one colour, the others transparent; filled up by a comment.

    Args:
        width: in pixels.
        height: likewise.
        size_bytes: of the whole file.
        key: decides the colour and the comment.

    Raises:
        ValueError: no such file has that size.
    """
    stream = Keystream(f"gif/{key}")
    # A table of two colours for the whole file; a canvas larger than its one pixel.
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + stream.take(6)
    pixel = b"," + struct.pack("<HHHHB", width // 2, height // 2, 1, 1, 0) + _ONE_PIXEL
    around = b"!\xfe%c%b\x00"
    room = size_bytes - len(head + pixel + _TRAILER) - len(around % (0, b""))
    if not 1 <= room <= _MOST_COMMENT_BYTES:
        raise ValueError(f"a GIF image of one pixel cannot have {size_bytes} bytes")
    return head + around % (room, stream.take(room)) + pixel + _TRAILER
