"""The JSON of HAR files, of which a part may be broken while the others are whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError

NOT_HAR = "not a HAR 1.2 file"
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_LIST = re.compile(r"\s*:\s*\[")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_IN_LOG, _IN_ENTRIES = 2, 3
"""How deep what stands in the log is, and what stands in the list of its entries."""
_MOST_DIGITS = 18


@dataclass(frozen=True)
class HarPart:
    """An entry of a file.

    Attributes:
        value: as JSON has it; None if it is broken.
        broken: why it is not JSON; empty if it is.
    """

    value: Any
    broken: str = ""


def har_parts(data: bytes, path: Path) -> tuple[Any, Iterator[HarPart]]:
    """The list of pages and the entries of a HAR file, as they are written.

    Args:
        data: content of the file.
        path: of the file.

    Raises:
        WrongInputError: it has no list of entries, or was cut.
    """
    text, is_whole = _decoded(data)
    try:
        if not is_whole:
            return None, iter(_pieces(text, path))
        document = _value(text)
    except (ValueError, RecursionError) as error:
        if not _entries_at(text):
            raise WrongInputError(f"{NOT_HAR}: {_broken(error)}", where=str(path)) from None
        return None, iter(_pieces(text, path))
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(log, dict) or not isinstance(entries, list):
        raise WrongInputError(
            f"{NOT_HAR}: it has no {'log with a list of entries' if log is None else 'list log.entries'}",
            where=str(path),
        )
    return log.get("pages"), map(HarPart, entries)


def _decoded(data: bytes) -> tuple[str, bool]:
    """Text in UTF-8 or, with its mark or without, UTF-16 and -32; and whether all of it is."""
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding), True
    except UnicodeDecodeError:
        is_utf8 = encoding.startswith("utf-8")
        return data.decode(encoding, "surrogateescape" if is_utf8 else "replace"), not is_utf8


def _value(text: str) -> Any:
    # Numbers of thousands of digits are numbers in JSON, and none in Python.
    return json.loads(
        text,
        strict=False,
        parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else float(digits),
    )


def _broken(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"its JSON is broken in line {error.lineno}, column {error.colno}"
    return "its JSON is nested too deeply"


def _entries_at(text: str) -> int:
    """Where the entries begin, behind the bracket of their list; 0 if there are none."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif (
            depth == _IN_LOG
            and token[0] == '"entries"'
            and (opened := _LIST.match(text, token.end()))
        ):
            return opened.end()
    return 0


def _pieces(text: str, path: Path) -> list[HarPart]:
    """The entries, each read by itself."""
    begin = _entries_at(text)
    if not begin:
        raise WrongInputError(
            f"{NOT_HAR}: it has no list log.entries, and bytes that are no UTF-8", where=str(path)
        )
    parts: list[HarPart] = []
    depth, start = _IN_ENTRIES, begin
    for token in _TOKEN.finditer(text, begin):
        if token[0] in "[{":
            start = token.start() if depth == _IN_ENTRIES else start
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth < _IN_ENTRIES:
                return parts
            if depth == _IN_ENTRIES:
                parts.append(_part(text[start : token.end()]))
    raise WrongInputError(
        f"truncated: its JSON ends in or after entry {len(parts) + (depth > _IN_ENTRIES)}",
        where=str(path),
    )


def _part(text: str) -> HarPart:
    if _ESCAPED_BYTE.search(text):
        return HarPart(_or_none(text), "it has bytes that are no UTF-8")
    try:
        return HarPart(_value(text))
    except json.JSONDecodeError as error:
        return HarPart(None, f"its JSON is broken at character {error.pos + 1} of {len(text)}")
    except (ValueError, RecursionError):
        return HarPart(None, "it is nested too deeply")


def _or_none(text: str) -> Any:
    try:
        return _value(text)
    except (ValueError, RecursionError):
        return None
