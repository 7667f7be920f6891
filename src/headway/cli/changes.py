"""Options that change a study: from ``KEY=VALUE`` to tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.errors import WrongInputError
from headway.foreign.documents import toml_tables
from headway.study.merging import merged


def parsed_changes(texts: Sequence[str]) -> dict[str, Any]:
    """The tables that options ``--set KEY=VALUE`` write, those of single keys over those of tables before them.

    A value is TOML; a word that is none is a text, so that ``server.program=nginx`` needs no quotes.

    Raises:
        WrongInputError: one is no assignment, or a key is assigned two values.
    """
    changes: dict[str, Any] = {}
    assigned: dict[str, dict[str, Any]] = {}
    for text in texts:
        tables = _assignment(text)
        key = text.partition("=")[0].strip()
        if assigned.setdefault(key, tables) != tables:
            raise WrongInputError(f"{key} is given two values; leave one out", where="--set")
        changes = merged(changes, tables)
    return changes


def _assignment(text: str) -> dict[str, Any]:
    key, assigned, value = (part.strip() for part in text.partition("="))
    # What begins as a list or a table is meant as one, and is no word.
    words = () if value[:1] in ("[", "{") else (f'"{value}"',)
    for written in (value, *words) if assigned else ():
        try:
            return toml_tables(f"{key} = {written}")
        except ValueError:
            continue
    raise WrongInputError(
        f"{text!r} is not an assignment; write KEY=VALUE, for example server.congestion_control=bbr",
        where="--set",
    )
