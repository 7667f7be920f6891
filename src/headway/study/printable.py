"""Texts of study files and of files of programs: reports, tables and terminals show them."""

from __future__ import annotations

from typing import Any

from headway.errors import WrongInputError
from headway.foreign.shown import is_printable, printable, quoted
from headway.study.source import Source

_LONGEST_NAME = 200
"""Of a key: more belongs to no table, figure or sentence."""


def check_printable(raw: Any, source: Source, key: str = "") -> None:
    """Refuse keys and texts of a document that a terminal would obey; tabs and ends of lines may be.

    Raises:
        WrongInputError: one is such a text.
    """
    if isinstance(raw, dict):
        for name, value in raw.items():
            _check_name(name, source, key)
            check_printable(value, source, f"{key}{name}.")
    elif isinstance(raw, list):
        for value in raw:
            check_printable(value, source, key)
    elif isinstance(raw, str) and not is_printable(raw):
        raise WrongInputError(
            f"has a control character, which terminals obey: {quoted(raw)}; leave it out",
            where=printable(source.where(key.removesuffix("."))),
        )


def _check_name(name: str, source: Source, key: str) -> None:
    """A key is a word of tables and sentences: of a line, and no longer than people read."""
    check_printable(name, source, f"{key}{name}.")
    reason = ""
    if "\n" in name or "\t" in name:
        reason = f"{quoted(name)} is not a name of one line, without tabs"
    elif len(name) > _LONGEST_NAME:
        reason = (
            f"{quoted(name)} is a name of {len(name)} characters; write {_LONGEST_NAME} at most"
        )
    if reason:
        raise WrongInputError(reason, where=printable(source.where(key.removesuffix("."))))
