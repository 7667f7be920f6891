"""Texts of others as a terminal may have them: with nothing in them that it obeys."""

from __future__ import annotations

import re

_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tabs and ends of lines, and what turns the direction of a text."""
_SHOWN_LENGTH = 80
_LINE_LENGTH = 600


def printable(text: str) -> str:
    """A text in which control characters are written as Python writes them, such as ``\\x1b``."""
    return _OBEYED.sub(lambda match: repr(match[0])[1:-1], text)


def is_printable(text: str) -> bool:
    """Whether a terminal obeys nothing in a text."""
    return _OBEYED.search(text) is None


def shortened(text: str) -> str:
    """A line for people, with its middle left out if it is longer than anybody reads.

    Args:
        text: the line.
    """
    if len(text) <= _LINE_LENGTH:
        return text
    half = _LINE_LENGTH // 2
    return f"{text[:half]}...{text[-half:]}"


def quoted(text: str) -> str:
    """A name for a message: in quotation marks, with its middle left out if it is long."""
    if len(text) <= _SHOWN_LENGTH:
        return repr(text)
    half = _SHOWN_LENGTH // 2
    return f"{text[:half]!r}...{text[-half:]!r}"
