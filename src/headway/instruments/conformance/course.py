"""The course of a sender: its window, what it has in flight and what it loses, at every moment that is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]
_SETTLED_ROUNDS = 1.15
"""Round trips after a loss in which a window has come down: Linux takes a whole one (RFC 6937)."""
_SETTLED_ROUNDS_IN_FLIGHT = 2.3
"""The same for what was in flight in a whole round trip before."""


class CourseSource(StrEnum):
    """Where a course is known from."""

    QLOG = "qlog"
    TCP_INFO = "tcp_info"
    CAPTURE = "packets in flight"


class EnteredState(NamedTuple):
    """A state of the congestion control, in the program's words, and when it was entered."""

    at_s: float
    name: str


class WindowCut(NamedTuple):
    """A window before congestion was noticed, and a round trip after that; bytes."""

    at_s: float
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before


@dataclass(frozen=True)
class SenderCourse:
    """A sender over time: what is known of it at increasing times, seconds from the start of the workload.

    What is not known at a time is not a number.

    Attributes:
        source: where it is known from. From captures alone a window is the most that was in flight in the last round trip.
        packet_bytes: of a full packet, as its congestion control counts it.
        at_s: the times.
        window_bytes: congestion window.
        in_flight_bytes: sent, and neither acknowledged nor lost.
        rtt_s: round-trip time: the latest, or the smoothed one where the latest is not known.
        threshold_bytes: slow start threshold.
        pacing_bytes_s: pacing rate.
        losses_s: when packets were declared lost, once for each packet.
        marks_s: when acknowledgments told of marks (ECN): once for each marked packet, of TCP once for each reaction.
        states: states that were entered, if the program tells them.
    """

    source: CourseSource
    packet_bytes: float
    at_s: Series
    window_bytes: Series
    in_flight_bytes: Series
    rtt_s: Series
    threshold_bytes: Series
    pacing_bytes_s: Series
    losses_s: Series
    marks_s: Series = field(default_factory=lambda: np.empty(0))
    states: tuple[EnteredState, ...] = ()

    @property
    def is_of_packets(self) -> bool:
        """Whether packets alone tell of it, and its windows are what was in flight."""
        return self.source is CourseSource.CAPTURE

    def _index(self, at_s: float) -> int:
        return max(int(np.searchsorted(self.at_s, at_s, side="right")) - 1, 0)

    def window_at(self, at_s: float) -> float:
        """The window at a time, bytes."""
        return float(self.window_bytes[self._index(at_s)])

    def threshold_at(self, at_s: float) -> float:
        """The slow start threshold at a time, bytes."""
        return float(self.threshold_bytes[self._index(at_s)])

    def rtt_at(self, at_s: float) -> float:
        """The round-trip time at a time, seconds; the first that is known before one is."""
        known = np.flatnonzero(~np.isnan(self.rtt_s))
        if not len(known):
            return float("nan")
        before = known[known <= self._index(at_s)]
        return float(self.rtt_s[before[-1] if len(before) else known[0]])

    def between(self, begin_s: float, end_s: float) -> Self:
        """The same from a time until another."""
        here = (self.at_s >= begin_s) & (self.at_s <= end_s)
        lost = (self.losses_s >= begin_s) & (self.losses_s <= end_s)
        marked = (self.marks_s >= begin_s) & (self.marks_s <= end_s)
        return replace(
            self,
            at_s=self.at_s[here],
            window_bytes=self.window_bytes[here],
            in_flight_bytes=self.in_flight_bytes[here],
            rtt_s=self.rtt_s[here],
            threshold_bytes=self.threshold_bytes[here],
            pacing_bytes_s=self.pacing_bytes_s[here],
            losses_s=self.losses_s[lost],
            marks_s=self.marks_s[marked],
            states=tuple(state for state in self.states if begin_s <= state.at_s <= end_s),
        )

    @property
    def seconds(self) -> float:
        """From its first moment to its last."""
        return float(self.at_s[-1] - self.at_s[0]) if len(self.at_s) else 0.0

    def first_loss_s(self, after_s: float) -> float | None:
        """When a packet was first declared lost after a time; None if none was."""
        later = self.losses_s[self.losses_s >= after_s]
        return float(later[0]) if len(later) else None

    def first_mark_s(self, after_s: float) -> float | None:
        """When an acknowledgment first told of a mark after a time; None if none did."""
        later = self.marks_s[self.marks_s >= after_s]
        return float(later[0]) if len(later) else None

    def cut(self, noticed_s: float) -> WindowCut:
        """What a loss or a mark that was noticed at a time did to the window."""
        before = self.window_at(np.nextafter(noticed_s, 0.0))
        return WindowCut(noticed_s, before, self.window_at(self.settled_s(noticed_s)))

    def settled_s(self, loss_s: float) -> float:
        """When the window is seen to have come down after a loss that was noticed at a time."""
        rounds = _SETTLED_ROUNDS_IN_FLIGHT if self.is_of_packets else _SETTLED_ROUNDS
        return loss_s + rounds * self.rtt_at(loss_s)

    def most_in_flight(self, begin_s: float, end_s: float) -> float:
        """The most that was in flight from a time until another, bytes."""
        here = self.between(begin_s, end_s).in_flight_bytes
        return float(np.nanmax(here)) if len(here) else 0.0

    def least_in_flight(self, begin_s: float, end_s: float) -> float:
        """The least that was in flight from a time until another, bytes."""
        here = self.between(begin_s, end_s).in_flight_bytes
        return float(np.nanmin(here)) if len(here) else 0.0

    def state_spans(self, *names: str) -> list[tuple[float, float]]:
        """From when until when it was in one of some states."""
        spans: list[tuple[float, float]] = []
        ends = [state.at_s for state in self.states[1:]] + [float(self.at_s[-1])]
        for state, end_s in zip(self.states, ends, strict=False):
            if state.name in names:
                spans.append((state.at_s, end_s))
        return spans


def plain_state(name: str) -> str:
    """A state's name as all programs would write it: ``probe_bw`` of ``ProbeBW`` and ``PROBE_BW``, too."""
    known = {"probebw": "probe_bw", "probertt": "probe_rtt", "slowstart": "slow_start"}
    plain = name.lower().replace("-", "_").replace(" ", "_")
    return known.get(plain, plain)
