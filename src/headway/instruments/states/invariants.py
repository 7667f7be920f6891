"""Invariants of all paths of senders through their states, as Synoptic mines them.

Beschastnikh et al., "Leveraging Existing Instrumentation to Automatically Infer Invariant-Constrained Models",
ESEC/FSE 2011, section 3: of two states, one is always followed by the other, never followed by it, or always
precedes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class InvariantRule(StrEnum):
    """What can hold between two states."""

    ALWAYS_FOLLOWED_BY = "is always followed by"
    NEVER_FOLLOWED_BY = "is never followed by"
    ALWAYS_PRECEDES = "always precedes"


@dataclass(frozen=True, order=True)
class Invariant:
    """A rule that held between two states, at any distance, in every path."""

    first: str
    rule: InvariantRule
    second: str

    def __str__(self) -> str:
        return f"{self.first} {self.rule} {self.second}"


def invariants(sequences: Iterable[Sequence[str]]) -> set[Invariant]:
    """All invariants of some sequences of states, by one pass over each.

    Both states of an invariant occur. Between a state and itself only "never followed by" is mined: it was
    entered once at most. Each sequence is looked at from behind for what follows, from the front for what precedes.
    """
    unfollowed: set[tuple[str, str]] = set()
    followed: set[tuple[str, str]] = set()
    unpreceded: set[tuple[str, str]] = set()
    texts = [tuple(sequence) for sequence in sequences]
    states = {state for sequence in texts for state in sequence}
    for sequence in texts:
        later: set[str] = set()
        for state in reversed(sequence):
            followed.update((state, text) for text in later)
            unfollowed.update((state, text) for text in states - later)
            later.add(state)
        earlier: set[str] = set()
        for state in sequence:
            unpreceded.update((text, state) for text in states - earlier)
            earlier.add(state)
    result = set()
    for first in states:
        for other in states:
            pair = (first, other)
            if pair not in followed:
                result.add(Invariant(first, InvariantRule.NEVER_FOLLOWED_BY, other))
            if first == other:
                continue
            if pair not in unfollowed:
                result.add(Invariant(first, InvariantRule.ALWAYS_FOLLOWED_BY, other))
            if pair not in unpreceded:
                result.add(Invariant(first, InvariantRule.ALWAYS_PRECEDES, other))
    return result


def ordered(results: Iterable[Invariant]) -> list[Invariant]:
    """Invariants by rule and names."""
    rules = list(InvariantRule)
    return sorted(
        results,
        key=lambda invariant: (rules.index(invariant.rule), invariant.first, invariant.second),
    )
