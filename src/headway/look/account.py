"""An account of a file: what it is, what it holds, what it lacks, and what takes it."""

from __future__ import annotations

from dataclasses import dataclass

from headway.foreign.kinds.model import Identity


@dataclass(frozen=True)
class FileFact:
    """Something that a file holds.

    Attributes:
        name: what it is, in a word or two.
        value: as people read it, with its unit.
    """

    name: str
    value: str


@dataclass(frozen=True)
class Listing:
    """A table of parts of a file.

    Attributes:
        columns: their headings.
        rows: a text for each column.
        numbers: headings of columns of numbers.
        left_out: how many more rows there are.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    left_out: int = 0


@dataclass(frozen=True)
class FileCurve:
    """A value over time, for a small picture.

    Attributes:
        name: what it is, with its unit.
        values: of equal parts of the time.
        until: the end of the time, as people read it.
    """

    name: str
    values: tuple[float, ...]
    until: str


@dataclass(frozen=True)
class FileContents:
    """What a file holds.

    Attributes:
        facts: about the whole.
        listings: of its parts.
        curve: of what it tells over time.
        lacks: what is missing or wrong, a sentence each.
    """

    facts: tuple[FileFact, ...]
    listings: tuple[Listing, ...] = ()
    curve: FileCurve | None = None
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Account:
    """All that is told of a file.

    Attributes:
        identity: what it is.
        content: what it holds; None if Headway does not read such files.
        way: what to do with it; empty if there is nothing.
    """

    identity: Identity
    content: FileContents | None
    way: str
