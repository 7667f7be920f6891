"""Standard output and error that cannot encode a character say it in ASCII."""

from __future__ import annotations

import codecs
import io
import shlex
import sys
import unicodedata
from collections.abc import Sequence

_HANDLER = "headway-ascii"
_WORDS = {
    "−": "-",
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "±": "+-",
    "×": "x",
    "·": "*",
    "•": "*",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "↑": "^",
    "↓": "v",
    "↔": "<->",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "′": "'",
    "″": '"',
    "µ": "u",
    "μ": "u",
    "Δ": "delta",
    "σ": "sigma",
    "ß": "ss",
    "§": "section ",
    "°": " deg",
    "∞": "inf",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "✓": "ok",
    "✗": "x",
}
_DRAWN = (
    (0x2500, 0x257F, "+"),
    (0x2580, 0x259F, "#"),
    (0x25A0, 0x25FF, "*"),
    (0x2800, 0x28FF, "."),
)
"""Box drawing, blocks, shapes and Braille; lines have signs of their own."""
_LINES = {"─": "-", "━": "-", "═": "=", "╌": "-", "╸": "-", "╺": "-", "│": "|", "┃": "|", "║": "|"}
_FIRST_OF_BYTES, _LAST_OF_BYTES = 0xDC80, 0xDCFF
"""Surrogates that stand for bytes of names which no text is (PEP 383)."""


def write_what_can_be_written() -> None:
    """Let no character end a command: what an output cannot encode it gets in ASCII."""
    codecs.register_error(_HANDLER, _replaced)
    for stream in (sys.stdout, sys.stderr):
        # Tests and notebooks have others, which take all.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def in_ascii(character: str) -> str:
    """What stands for a character where there is only ASCII; ``?`` if nothing does."""
    if character in _WORDS or character in _LINES:
        return _WORDS.get(character) or _LINES[character]
    for first, last, sign in _DRAWN:
        if first <= ord(character) <= last:
            return sign
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or ("" if unicodedata.combining(character) else "?")


def typed(words: Sequence[str]) -> str:
    """A command of Headway as it was typed, as a text that files take.

    In a locale that is not UTF-8, other characters of the command line are bytes that no text is.
    """
    command = shlex.join(["headway", *words])
    return command.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    left = error.object[error.start : error.end]
    if all(_FIRST_OF_BYTES <= ord(text) <= _LAST_OF_BYTES for text in left):
        return left.encode("utf-8", "surrogateescape"), error.end
    return "".join(map(in_ascii, left)), error.end
