"""The state machine that senders' paths show: how often which state followed which, and for how long each stood."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from headway.instruments.states.statepath import StatePath
from headway.statistics.interval import Interval, share_interval


@dataclass(frozen=True)
class Transition:
    """From a state to another: how often, and how probable it was when the state was left."""

    before: str
    after: str
    count: int
    left: int

    @property
    def probability(self) -> float:
        return self.count / self.left

    @property
    def interval(self) -> Interval:
        """Of the probability, if each leaving of the state is a draw of its own."""
        return share_interval(self.count, self.left)


@dataclass(frozen=True)
class StateShare:
    """A state: for how long senders were in it, and its share of their time."""

    state: str
    seconds: float
    share: float


Step = tuple[str, str]
"""From a state to another."""


@dataclass(frozen=True)
class StateMachine:
    """What the connections of several runs show together.

    Attributes:
        seconds: in each state.
        counts: of each step.
    """

    seconds: Mapping[str, float]
    counts: Mapping[Step, int]

    @classmethod
    def of(cls, paths: Iterable[StatePath]) -> StateMachine:
        """The machine of some paths, which may be none."""
        seconds: Counter[str] = Counter()
        counts: Counter[Step] = Counter()
        for path in paths:
            seconds.update(path.seconds())
            counts.update(pairwise(path.states))
        return cls(dict(seconds), dict(counts))

    @cached_property
    def states(self) -> tuple[StateShare, ...]:
        """All states, those with the most time first."""
        known = dict.fromkeys((*self.seconds, *(state for step in self.counts for state in step)))
        state_shares = (
            StateShare(text, self.seconds.get(text, 0.0), self.share(text)) for text in known
        )
        return tuple(
            sorted(state_shares, key=lambda state_share: (-state_share.seconds, state_share.state))
        )

    def share(self, state: str) -> float:
        """A state's share of all time; 0 if it was never entered."""
        return self.seconds.get(state, 0.0) / self._total_s if self._total_s else 0.0

    @cached_property
    def _total_s(self) -> float:
        return math.fsum(self.seconds.values())

    @cached_property
    def transitions(self) -> tuple[Transition, ...]:
        """All transitions, by the state that was left, the most frequent first."""
        place = {state.state: number for number, state in enumerate(self.states)}
        ordered = sorted(
            self.counts.items(), key=lambda pair: (place[pair[0][0]], -pair[1], pair[0][1])
        )
        return tuple(Transition(*step, count, self._left[step[0]]) for step, count in ordered)

    def transition(self, step: Step) -> Transition | None:
        """One of them, also if it was never taken; None if its state was never left."""
        left = self._left[step[0]]
        return Transition(*step, self.counts.get(step, 0), left) if left else None

    @cached_property
    def _left(self) -> Counter[str]:
        """How often each state was left."""
        left: Counter[str] = Counter()
        for (before, _), count in self.counts.items():
            left[before] += count
        return left


@dataclass(frozen=True)
class ChangedShare:
    """A state's share of the time in two machines."""

    state: str
    first: float
    second: float

    @property
    def change(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class ChangedTransition:
    """A transition in two machines, never taken in at most one of them; None where its state was never left."""

    before: str
    after: str
    first: Transition | None
    second: Transition | None

    @property
    def change(self) -> float | None:
        """Of the probability; None if one machine never left the state."""
        if self.first is None or self.second is None:
            return None
        return self.second.probability - self.first.probability

    @property
    def is_sure(self) -> bool:
        """Whether the intervals lie apart."""
        if self.first is None or self.second is None:
            return False
        first, other = self.first.interval, self.second.interval
        return first.high < other.low or other.high < first.low


def changed_shares(first: StateMachine, second: StateMachine) -> list[ChangedShare]:
    """All states of two machines, the most changed first."""
    states = dict.fromkeys(
        state_share.state for machine in (first, second) for state_share in machine.states
    )
    shares = [ChangedShare(state, first.share(state), second.share(state)) for state in states]
    return sorted(shares, key=lambda changed_share: -abs(changed_share.change))


def changed_transitions(first: StateMachine, second: StateMachine) -> list[ChangedTransition]:
    """All transitions of two machines, the most changed first; last those of states that one never left."""
    steps = dict.fromkeys(
        (transition.before, transition.after)
        for machine in (first, second)
        for transition in machine.transitions
    )
    transitions = [
        ChangedTransition(*step, first.transition(step), second.transition(step)) for step in steps
    ]
    return sorted(
        transitions,
        key=lambda changed_transition: (
            changed_transition.change is None,
            -abs(changed_transition.change or 0.0),
        ),
    )
