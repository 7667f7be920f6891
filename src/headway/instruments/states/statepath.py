"""The path of a sender through its states, whatever told of it: visits, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

INITIAL = "Init"
"""The state of a sender of which nothing has been told yet."""


class MachineKind(StrEnum):
    """What has states: a sender's congestion control, or the connection."""

    CONGESTION = "congestion"
    CONNECTION = "connection"


class StateVisit(NamedTuple):
    """A state, and from when to when a sender was in it, in seconds."""

    state: str
    begin_s: float
    end_s: float

    @property
    def span_s(self) -> float:
        return self.end_s - self.begin_s


@dataclass(frozen=True)
class StatePath:
    """The states of one connection's sender.

    Attributes:
        host: where it was.
        machine: what had the states.
        source: what told of them: ``tcp_info``, ``qlog`` or ``hwtrace``.
        visits: without a gap, no state twice in a row.
        sampled: whether the states were looked at now and then, so that short visits may be missing.
    """

    host: str
    machine: MachineKind
    source: str
    visits: tuple[StateVisit, ...]
    sampled: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """The states in the order of the visits."""
        return tuple(visit.state for visit in self.visits)

    def between(self, begin_s: float, end_s: float) -> StatePath:
        """What of it was from a time until another."""
        cut = (
            StateVisit(visit.state, max(visit.begin_s, begin_s), min(visit.end_s, end_s))
            for visit in self.visits
        )
        kept = tuple(
            state_visit
            for state_visit in cut
            if state_visit.span_s >= 0 and begin_s <= state_visit.begin_s <= end_s
        )
        return StatePath(self.host, self.machine, self.source, kept, self.sampled)

    def seconds(self) -> dict[str, float]:
        """How long it was in each state."""
        spent: dict[str, float] = {}
        for visit in self.visits:
            spent[visit.state] = spent.get(visit.state, 0.0) + visit.span_s
        return spent


def state_name(word: str) -> str:
    """A state as documents and Kakhki et al. write it: ``slow_start`` is SlowStart."""
    parts = word.replace("-", "_").replace(" ", "_").split("_")
    return "".join(part[:1].upper() + part[1:] for part in parts)


def visits_of(changes: Iterable[tuple[float, str]], end_s: float) -> tuple[StateVisit, ...]:
    """Visits of a sender that entered these states at these times; a state that it was in goes on.

    Args:
        changes: in the order of their times, in seconds.
        end_s: when it was last heard of.
    """
    entered: Sequence[tuple[float, str]] = [
        next(group) for _, group in groupby(changes, key=lambda change: change[1])
    ]
    ends = [at_s for at_s, _ in entered[1:]]
    return tuple(
        StateVisit(state, at_s, until_s)
        for (at_s, state), until_s in zip(entered, [*ends, end_s], strict=False)
    )
