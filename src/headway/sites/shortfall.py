"""The shortfall of a recorded body against what was sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kept(StrEnum):
    """How much of a body a recording has, from the best to the worst."""

    WHOLE = "kept"
    PART = "kept in part"
    CONTRADICTED = "not what is said of it"
    """Something that is said of it, a length or a digest, is not so."""
    NOT = "not kept"

    @property
    def rank(self) -> int:
        """Less for what is worth more."""
        return tuple(Kept).index(self)


@dataclass(frozen=True)
class Shortfall:
    """Why a body is not what was sent, or not all of it.

    Attributes:
        kept: how much of it there is; never all.
        reason: in words.
    """

    kept: Kept
    reason: str

    def __str__(self) -> str:
        return f"its body is {self.kept}: {self.reason}"
