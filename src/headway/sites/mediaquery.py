"""Media queries: whether what is for some media is loaded always, never, or on some devices (Media Queries 4)."""

from __future__ import annotations

from enum import Enum, auto

_ALWAYS = frozenset(("", "all", "screen", "only all", "only screen"))
_NEVER = frozenset(
    ("print", "only print", "not all", "not screen", "speech", "only speech", "aural", "tty", "tv")
)
"""Of pages on a screen; media types that are out of use match nothing."""


class Matching(Enum):
    """On how many devices a list of media queries matches."""

    ALWAYS = auto()
    SOMETIMES = auto()
    NEVER = auto()


def matching(media: str) -> Matching:
    """On how many devices a list of media queries matches.

    Args:
        media: the list, as it is written.
    """
    queries = [" ".join(query.lower().split()) for query in media.split(",")]
    if any(query in _ALWAYS for query in queries):
        return Matching.ALWAYS
    is_never = all(query in _NEVER or query.startswith("print and") for query in queries)
    return Matching.NEVER if is_never else Matching.SOMETIMES
