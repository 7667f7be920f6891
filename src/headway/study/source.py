"""A study's text, and where in it a key is: for messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headway.study.named import NAMED
from headway.study.positions import Key, positions

if TYPE_CHECKING:
    from headway.study.user_programs import OutsideProgram

LISTS = frozenset({"cells", "claims", "exclude", "links", "published", "reasons"})
"""Lists of tables, which are told apart by their number."""
_NUMBERED = re.compile(rf"\b({'|'.join(sorted(LISTS))})\.\d+")


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
        """Line of every key, by its dotted name: of tables in lists with and without their number, of hops and links by name."""
        numbers: dict[str, int] = {}
        keys = [position for position in positions(self.text.removeprefix("\ufeff")) if position[0]]
        names = {
            path[:-1]: value.strip("\"'")
            for path, _, value in keys
            if len(path) > 2 and path[-1] == "name" and path[-3] in NAMED
        }
        for path, line, _ in keys:
            key = ".".join(_by_name(path, names))
            numbers.setdefault(key, line)
            numbers.setdefault(_NUMBERED.sub(r"\1", key), line)
        return numbers

    def depth(self, key: str) -> int:
        """How many leading parts of a dotted key the file has."""
        parts = key.split(".")
        numbers = (n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self.lines_of_keys)
        return next(numbers, 0)

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


def _by_name(path: Key, names: Mapping[Key, str]) -> Key:
    """A key's parts, in which members of lists stand by their names, and not by their numbers."""
    return tuple(names.get(path[: end + 1], part) for end, part in enumerate(path))
