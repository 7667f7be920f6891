"""A command, as the help lists it."""

from __future__ import annotations

from dataclasses import dataclass

STUDIES, RESULTS, PATH, FILES, MORE = "Studies", "Results", "A path", "Files and sites", "More"


@dataclass(frozen=True)
class Listed:
    """A command, as the help shows it.

    Attributes:
        part: heading of the help below which it stands.
        place: module and attribute of what carries it out, without ``headway``.
        summary: what it does, in a line or two.
        after: of an instrument's command, the command behind which it stands in the help; without it, or without that
            command, the last of its part.
    """

    part: str
    place: str
    summary: str
    after: str = ""
