"""The lines of a trace's file: of a text, or refused as what the file is."""

from __future__ import annotations

from pathlib import Path

from headway.foreign.files import read_bounded
from headway.foreign.kinds import binary, documents, lines
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.refusing import of_other_kind

_MOST_BYTES = 256 << 20
_TEXTS = frozenset(
    (
        *(lines.MAHIMAHI_TRACE, lines.RATE_TRACE, lines.CSV, lines.TEXT, binary.EMPTY),
        *(documents.JSON_LIST, documents.JSON_LINES),
    )
)
"""Kinds whose lines tell best what is wrong with them."""
_BOM = "\ufeff"


def trace_lines(file: Path) -> list[str]:
    """The lines of a text.

    Raises:
        WrongInputError: the file cannot be read, is too long, or is of another kind.
    """
    str(file)
    data = read_bounded(file, _MOST_BYTES, missing="no such trace file", too_long="; cut it")
    identity = identify(file)
    is_text = identity.kind in _TEXTS or identity.kind.key == "sabre"
    if not is_text or identity.packings or identity.coding:
        noun = "a plain text in UTF-8" if is_text else "a network trace"
        raise of_other_kind(identity, file, noun)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise of_other_kind(identity, file, "a text in UTF-8") from None
    return text.removeprefix(_BOM).splitlines()
