"""Texts of study files and of files of programs: reports, tables and terminals show them."""

from __future__ import annotations

from typing import Any

from headway.errors import WrongInputError
from headway.foreign.shown import is_printable, printable, quoted
from headway.study.source import Source


def check_printable(raw: Any, source: Source, key: str = "") -> None:
    """Refuse keys and texts of a document that a terminal would obey; tabs and ends of lines may be.

    Raises:
        WrongInputError: one is such a text.
    """
    if isinstance(raw, dict):
        for name, value in raw.items():
            check_printable(name, source, f"{key}{name}.")
            check_printable(value, source, f"{key}{name}.")
    elif isinstance(raw, list):
        for value in raw:
            check_printable(value, source, key)
    elif isinstance(raw, str) and not is_printable(raw):
        raise WrongInputError(
            f"has a control character, which terminals obey: {quoted(raw)}; leave it out",
            where=printable(source.where(key.removesuffix("."))),
        )
