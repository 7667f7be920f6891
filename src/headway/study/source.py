"""A study's text, and where in it a key is: for messages."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.study.outside import OutsideProgram

_PART = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_KEY = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_HEADER = re.compile(rf"\s*(\[\[?)\s*{_KEY}\s*\]")
_VALUE = re.compile(rf"\s*{_KEY}\s*=\s*(.*)")
_NUMBERED = re.compile(r"\b(cells|exclude|published|links)\.\d+")
"""Lists of tables, whose keys are told apart by their number in the file."""


class _Lists:
    """Lists of tables: `[[cells]]`, whose tables have numbers, and `[[hops]]`, which have names."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}
        self._count: Counter[str] = Counter()

    def table(self, header: str, *, of_list: bool) -> str:
        """Key of a table by its header: one below a list belongs to the list's newest table."""
        for name in sorted(self._newest, key=len, reverse=True):
            if header.startswith(f"{name}."):
                header = self._newest[name] + header.removeprefix(name)
                break
        if not of_list:
            return header
        key = f"{header}.{self._count[header]}"
        self._count[header] += 1
        self._newest[header] = key
        return key

    def named(self, table: str, name: str) -> str:
        """Key of a hop, once its name is known; of other tables what it was."""
        below, _, number = table.rpartition(".")
        if not number.isdecimal() or not re.search(r"(^|\.)hops$", below):
            return table
        self._newest[below] = f"{below}.{name}"
        return self._newest[below]


@dataclass(frozen=True)
class Source:
    """A study's text and where it came from; whether its short form is meant, `[quick]`.

    With ``programs`` from outside, which its directory has.
    """

    name: str
    text: str
    directory: Path
    short: bool = False
    programs: tuple[OutsideProgram, ...] = ()

    @property
    def shortened(self) -> Source:
        """The same for the study's short form."""
        return replace(self, short=True)

    @cached_property
    def lines_of_keys(self) -> dict[str, int]:
        """Line of every key, by its dotted name; found by shape, for messages only."""
        found: dict[str, int] = {}
        table, lists = "", _Lists()
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := _HEADER.match(line):
                table = lists.table(_plain(header[2]), of_list=header[1] == "[[")
                key = table
            elif value := _VALUE.match(line):
                key = _plain(value[1])
                if key == "name" and table:
                    table = lists.named(table, value[2].split("#")[0].strip(" \"'"))
                    found.setdefault(table, number)
                key = f"{table}.{key}" if table else key
            else:
                continue
            parts = key.split(".")
            for end in range(1, len(parts) + 1):
                one = ".".join(parts[:end])
                found.setdefault(one, number)
                found.setdefault(_NUMBERED.sub(r"\1", one), number)
        return found

    def depth(self, key: str) -> int:
        """How many leading parts of a dotted key the file has."""
        parts = key.split(".")
        found = (n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self.lines_of_keys)
        return next(found, 0)

    def where(self, *keys: str, experiment: str = "") -> str:
        """``file:line: key``, with the line of the nearest enclosing key that the file has.

        Args:
            keys: ways to write a key, of which the file has most of one.
            experiment: that it is of, whose own keys and the short form's go before.
        """
        inner = [f"experiments.{experiment}.{key}" for key in keys] if experiment else []
        short = [f"quick.{key}" for key in (*keys, *inner)] if self.short else []
        key = max([*short, *keys, *inner], key=lambda key: self.depth(key) / len(key.split(".")))
        line = self.lines_of_keys.get(".".join(key.split(".")[: self.depth(key)]))
        file = self.name if line is None else f"{self.name}:{line}"
        key = _NUMBERED.sub(r"\1", key)
        return f"{file}: {key}" if key else file


def _plain(key: str) -> str:
    """A dotted key without quotes and spaces around its dots."""
    return ".".join(part.strip("\"'") for part in re.findall(_PART, key))
