"""Parts of a setting that cannot stand beside each other: a row for each pair, with why, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.study.base_model import wrong


@dataclass(frozen=True)
class Exclusion:
    """Two parts of a setting of which one has to be left out.

    Attributes:
        key: of the part that is refused.
        beside: key of the other one.
        because: why they cannot be together, as the end of a sentence.
        instead: what to do; empty if there is nothing but to leave one of them out.
    """

    key: str
    beside: str
    because: str
    instead: str = ""

    def __str__(self) -> str:
        instead = self.instead or f"leave out {self.key} or {self.beside}"
        return f"cannot be combined with {self.beside}: {self.because}; {instead}"


_OWN_HOSTS = "each flow has hosts of its own"
EXCLUSIONS = (
    Exclusion("proxy", "flows", f"{_OWN_HOSTS}, and they share paths only"),
    Exclusion("origins", "flows", f"{_OWN_HOSTS}, and origins are of one page"),
    Exclusion("dual_stack", "flows", f"{_OWN_HOSTS}, whose addresses are of one family"),
    Exclusion("fault", "flows", "packets of several flows have no common number"),
)
"""All of them. What a program cannot do is its adapter's matter, and no row here."""


def check_fits(parts: Mapping[str, object]) -> None:
    """Check that no two parts of a setting exclude each other.

    Args:
        parts: of the setting, by the keys of `EXCLUSIONS`; what is not there is false or missing.

    Raises:
        PydanticCustomError: two do; names the key of one.
    """
    for row in EXCLUSIONS:
        if parts.get(row.key) and parts.get(row.beside):
            raise wrong(row.key, str(row))
