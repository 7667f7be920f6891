"""Whole numbers in files of others, where a number of a thousand digits is none."""

from __future__ import annotations

_MOST_DIGITS = 18
"""Of a 64-bit number; Python refuses to read one of several thousand."""


def whole_number(text: str) -> int | None:
    """The number that ASCII digits stand for; None if a text is something else or too long for one."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None
