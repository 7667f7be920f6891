"""TrueType fonts of an exact size in bytes: capital letters and digits in 5x7 dots.

Tables as in ISO/IEC 14496-22 (OpenType). A private last table, which browsers leave out, fills up.
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import pairwise

from headway.instruments.corpus.keystream import Keystream

MIN_FONT_BYTES = 12_000
"""The smallest size that is offered; the tables that a browser needs take a little less."""

# Seven rows of five dots each, the leftmost dot the highest bit.
_DOTS = {
    "A": "0E 11 11 1F 11 11 11", "B": "1E 11 11 1E 11 11 1E", "C": "0E 11 10 10 10 11 0E",
    "D": "1E 11 11 11 11 11 1E", "E": "1F 10 10 1E 10 10 1F", "F": "1F 10 10 1E 10 10 10",
    "G": "0E 11 10 17 11 11 0E", "H": "11 11 11 1F 11 11 11", "I": "0E 04 04 04 04 04 0E",
    "J": "07 02 02 02 02 12 0C", "K": "11 12 14 18 14 12 11", "L": "10 10 10 10 10 10 1F",
    "M": "11 1B 15 15 11 11 11", "N": "11 19 15 13 11 11 11", "O": "0E 11 11 11 11 11 0E",
    "P": "1E 11 11 1E 10 10 10", "Q": "0E 11 11 11 15 12 0D", "R": "1E 11 11 1E 14 12 11",
    "S": "0F 10 10 0E 01 01 1E", "T": "1F 04 04 04 04 04 04", "U": "11 11 11 11 11 11 0E",
    "V": "11 11 11 11 11 0A 04", "W": "11 11 11 15 15 1B 11", "X": "11 11 0A 04 0A 11 11",
    "Y": "11 11 0A 04 04 04 04", "Z": "1F 01 02 04 08 10 1F", "0": "0E 11 13 15 19 11 0E",
    "1": "04 0C 04 04 04 04 0E", "2": "0E 11 01 06 08 10 1F", "3": "1F 02 04 02 01 11 0E",
    "4": "02 06 0A 12 1F 02 02", "5": "1F 10 1E 01 01 11 0E", "6": "06 08 10 1E 11 11 0E",
    "7": "1F 01 02 04 08 08 08", "8": "0E 11 11 0E 11 11 0E", "9": "0E 11 11 0F 01 02 0C",
    ".": "00 00 00 00 00 0C 0C",
}  # fmt: skip
_EM, _DOT, _ADVANCE = 1000, 100, 600
_ASCENT, _DESCENT = 7 * _DOT, 2 * _DOT
_CHECKSUM_MAGIC = 0xB1B0AFBA
_HEAD_CHECKSUM_AT = 8
_ENTRY_BYTES = 16


def font(size_bytes: int, key: str) -> bytes:
    """A font with glyphs for letters (small ones look as capitals), digits, space and full stop.

    Args:
        size_bytes: size of the whole file; at least MIN_FONT_BYTES.
        key: decides the bytes that fill up.
    """
    if size_bytes < MIN_FONT_BYTES:
        raise ValueError(f"a font cannot have {size_bytes} bytes")
    tables = dict(_tables())
    start = 12 + _ENTRY_BYTES * (len(tables) + 1)
    used = start + sum(len(_padded(data)) for data in tables.values())
    tables["hwPd"] = Keystream(f"font/{key}").take(size_bytes - used)
    directory, content = [], b""
    for tag, data in tables.items():
        entry = struct.pack(
            ">4sLLL", tag.encode(), _checksum(data), start + len(content), len(data)
        )
        directory.append(entry)
        # The last table ends where the file ends.
        content += data if tag == "hwPd" else _padded(data)
    file = bytearray(_offset_table(len(tables)) + b"".join(sorted(directory)) + content)
    head = start + content.index(tables["head"]) + _HEAD_CHECKSUM_AT
    struct.pack_into(">L", file, head, (_CHECKSUM_MAGIC - _checksum(bytes(file))) % 2**32)
    return bytes(file)


def _offset_table(tables: int) -> bytes:
    power = tables.bit_length() - 1
    search = 16 << power
    return struct.pack(">LHHHH", 0x00010000, tables, search, power, 16 * tables - search)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _checksum(data: bytes) -> int:
    padded = _padded(data)
    words: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}L", padded)
    return sum(words) % 2**32


@cache
def _tables() -> tuple[tuple[str, bytes], ...]:
    """All tables but the private one; glyph 0 is what stands for unknown characters, 1 a space."""
    glyphs = [_outline("1F 11 11 11 11 11 1F"), b"", *(_outline(dots) for dots in _DOTS.values())]
    offsets = [0]
    for glyph in glyphs:
        offsets.append(offsets[-1] + len(glyph))
    return (
        ("OS/2", _os2()),
        ("cmap", _cmap()),
        ("glyf", b"".join(glyphs)),
        ("head", _head()),
        ("hhea", _hhea(len(glyphs))),
        ("hmtx", struct.pack(">Hh", _ADVANCE, 0) * len(glyphs)),
        ("loca", struct.pack(f">{len(offsets)}L", *offsets)),
        ("maxp", struct.pack(">L14H", 0x00010000, len(glyphs), 96, 24, 0, 0, 2, *([0] * 8))),
        ("name", _name()),
        ("post", struct.pack(">LLhhLLLLL", 0x00030000, 0, -100, 50, 1, 0, 0, 0, 0)),
    )


def _outline(dots: str) -> bytes:
    """A glyph with a rectangle for each run of dots in a row (section 5.3.3, simple glyphs)."""
    boxes = []
    for row, code in enumerate(dots.split()):
        lit = [bool(int(code, 16) >> (4 - column) & 1) for column in range(5)]
        edges = [n for n in range(6) if (n < 5 and lit[n]) != (n > 0 and lit[n - 1])]
        top = (7 - row) * _DOT
        boxes += [
            (left * _DOT, top - _DOT, right * _DOT, top)
            for left, right in zip(edges[::2], edges[1::2], strict=True)
        ]
    xs = [x for left, _, right, _ in boxes for x in (left, left, right, right)]
    ys = [y for _, bottom, _, top in boxes for y in (bottom, top, top, bottom)]
    count = len(boxes)
    return _padded(
        struct.pack(">hhhhh", count, min(xs), min(ys), max(xs), max(ys))
        + struct.pack(f">{count}H", *range(3, 4 * count, 4))
        + struct.pack(">H", 0)
        + b"\x01" * (4 * count)  # every point is on the curve, every delta has two bytes
        + _deltas(xs)
        + _deltas(ys)
    )


def _deltas(values: list[int]) -> bytes:
    steps = [now - before for before, now in pairwise([0, *values])]
    return struct.pack(f">{len(steps)}h", *steps)


def _cmap() -> bytes:
    """Characters to glyphs, one segment per character (format 4)."""
    glyphs = {" ": 1, **{character: 2 + n for n, character in enumerate(_DOTS)}}
    glyphs |= {character.lower(): glyph for character, glyph in glyphs.items()}
    codes = [*sorted((ord(character), glyph) for character, glyph in glyphs.items()), (0xFFFF, 0)]
    count = len(codes)
    power = count.bit_length() - 1
    search = 2 << power
    ends = struct.pack(f">{count}H", *(code for code, _ in codes))
    deltas = struct.pack(f">{count}H", *((glyph - code) % 2**16 for code, glyph in codes))
    body = struct.pack(">HHHH", 2 * count, search, power, 2 * count - search)
    body += ends + bytes(2) + ends + deltas + bytes(2 * count)
    subtable = struct.pack(">HHH", 4, 6 + len(body), 0) + body
    return struct.pack(">HHHHL", 0, 1, 3, 1, 12) + subtable


def _head() -> bytes:
    return struct.pack(
        ">LLLLHHQQhhhhHHhhh",
        *(0x00010000, 0x00010000, 0, 0x5F0F3CF5, 0b11, _EM, 0, 0),
        *(0, 0, 5 * _DOT, 7 * _DOT, 0, 8, 2, 1, 0),
    )


def _hhea(glyphs: int) -> bytes:
    return struct.pack(
        ">LhhhHhhhhhhhhhhhH",
        *(0x00010000, _ASCENT, -_DESCENT, 0, _ADVANCE, 0, _ADVANCE - 5 * _DOT, 5 * _DOT),
        *(1, 0, 0, 0, 0, 0, 0, 0, glyphs),
    )


def _os2() -> bytes:
    subscript = (650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0)
    return struct.pack(
        ">HhHHH11h10s4L4sHHHhhhHHLLhhHHH",
        *(4, _ADVANCE, 400, 5, 0, *subscript, bytes(10), 1, 0, 0, 0, b"HWAY", 0x40, 0x20, 0x7A),
        *(_ASCENT, -_DESCENT, 100, _ASCENT, _DESCENT, 1, 0, 7 * _DOT, 7 * _DOT, 0, 0x20, 1),
    )


def _name() -> bytes:
    names = {1: "Dots", 2: "Regular", 3: "Dots Regular", 4: "Dots", 5: "Version 1.0", 6: "Dots"}
    records, strings = b"", b""
    for number, text in names.items():
        data = text.encode("utf-16-be")
        records += struct.pack(">HHHHHH", 3, 1, 0x409, number, len(data), len(strings))
        strings += data
    return struct.pack(">HHH", 0, len(names), 6 + len(records)) + records + strings
