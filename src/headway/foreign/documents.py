"""Documents of others, TOML and JSON: read, or refused if they are nested deeper than anybody writes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

MOST_DEPTH = 64
"""Of tables and lists in each other; what walks a document calls itself for each."""
_TOO_DEEP = f"its tables and lists are nested more than {MOST_DEPTH} deep"
_LONG_KEY = re.compile(
    rf"^[ \t]*(?:\[\[?[ \t]*)?(?:[A-Za-z0-9_-]+[ \t]*\.[ \t]*){{{MOST_DEPTH + 1}}}", re.MULTILINE
)
"""A key of so many tables that looking it up takes Python's reader as long as their number squared."""


def toml_tables(text: str) -> dict[str, Any]:
    """The tables of a TOML document.

    Raises:
        ValueError: it is none, or nested too deeply.
    """
    if _LONG_KEY.search(text):
        raise ValueError(_TOO_DEEP)
    try:
        tables = tomllib.loads(text)
        check_depth(tables)
        return tables
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def json_value(data: bytes | str) -> Any:
    """The value of a JSON document.

    Raises:
        ValueError: it is none, or nested too deeply.
    """
    try:
        return check_depth(json.loads(data))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def check_depth(document: Any) -> Any:
    """A document that is not nested too deeply.

    Raises:
        ValueError: it is.
    """
    level = [document]
    for _ in range(MOST_DEPTH + 1):
        level = [
            inner
            for value in level
            if isinstance(value, Mapping | list)
            for inner in (value.values() if isinstance(value, Mapping) else value)
        ]
        if not level:
            return document
    raise ValueError(_TOO_DEEP)
