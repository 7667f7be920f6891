"""The phases of BBR: those that a program names, and in ProbeBW those that its pacing rate tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import NotApplicableError

PACING_MARGIN = 0.99
"""BBR paces a hundredth below its estimate (draft-ietf-ccwg-bbr-06, section 5.6.2)."""
_UP, _DOWN = 1.12, 0.95
"""Of the pacing rate over that of cruising: above the one BBR probes up, below the other down."""
_FRAME_BYTES = 1514.0
_SAME_S = 0.002
"""Changes of state and pacing rate that are closer are one."""


class PacedPhase(StrEnum):
    """What a pacing rate tells of ProbeBW: cruising and refilling have the same."""

    UP = "up"
    DOWN = "down"
    STEADY = "steady"


@dataclass(frozen=True)
class PhaseSpan:
    """From when until when a phase lasted; whether the end of ProbeBW, and not the next phase, ended it."""

    phase: PacedPhase
    begin_s: float
    end_s: float
    is_cut: bool = False


def check_bbr(course: SenderCourse) -> None:
    """Refuse courses that name none of BBR's states.

    Raises:
        NotApplicableError: it names none, or logs no pacing rate.
    """
    names = {state.name for state in course.states}
    if not names & {"startup", "drain", "probe_bw"}:
        raise NotApplicableError("it names none of BBR's states")
    if np.isnan(course.pacing_bytes_s).all():
        raise NotApplicableError("it tells no pacing rate")


def state_begins(course: SenderCourse, name: str) -> float:
    """When a state was first entered.

    Raises:
        NotApplicableError: it never was.
    """
    times = [state.at_s for state in course.states if state.name == name]
    if not times:
        raise NotApplicableError(f"it never was in {name}")
    return times[0]


def next_state(course: SenderCourse, after_s: float) -> str:
    """The state that follows the one of a time; empty if none does."""
    return next((state.name for state in course.states if state.at_s > after_s), "")


def state_at(course: SenderCourse, at_s: float) -> str:
    """The state at a time; empty before the first."""
    return next((state.name for state in reversed(course.states) if state.at_s <= at_s), "")


def capacity_bytes_s(course: SenderCourse, scenario: SenderScenario) -> float:
    """What the path carries of a sender's own bytes, without the headers that it does not count."""
    return scenario.rate_bytes_s * course.packet_bytes / _FRAME_BYTES


def bdp_bytes(course: SenderCourse, scenario: SenderScenario) -> float:
    """The bandwidth-delay product in a sender's own bytes."""
    return capacity_bytes_s(course, scenario) * scenario.rtt_s


def pacing_at(course: SenderCourse, at_s: float) -> float:
    """The pacing rate at a time, bytes per second."""
    known = course.pacing_bytes_s[course.at_s <= at_s]
    return float(known[-1]) if len(known) else float("nan")


def cruising_bytes_s(course: SenderCourse, begin_s: float = 0.0, end_s: float = np.inf) -> float:
    """The pacing rate of most of ProbeBW, bytes per second.

    Raises:
        NotApplicableError: it was not in ProbeBW.
    """
    rates = [
        pacing_at(course, at_s)
        for span in course.state_spans("probe_bw")
        for at_s in np.arange(max(span[0], begin_s), min(span[1], end_s), 0.01).tolist()
    ]
    if not rates:
        raise NotApplicableError("it was not in ProbeBW")
    return float(np.median(rates))


def phase_spans(course: SenderCourse, until_s: float = np.inf) -> list[PhaseSpan]:
    """The phases of ProbeBW by the pacing rate, in order.

    Args:
        course: of the sender.
        until_s: up to when its rate is that of the path.

    Raises:
        NotApplicableError: it was not in ProbeBW.
    """
    cruising = cruising_bytes_s(course, end_s=until_s)
    spans: list[PhaseSpan] = []
    for begin_s, end_s in course.state_spans("probe_bw"):
        here = course.between(begin_s, end_s)
        begun: tuple[PacedPhase, float] | None = None
        for at_s, rate in zip(here.at_s.tolist(), here.pacing_bytes_s.tolist(), strict=True):
            phase = _phase(rate / cruising)
            if begun is None or begun[0] is not phase:
                if begun is not None:
                    spans.append(PhaseSpan(*begun, at_s, is_cut=at_s >= end_s - _SAME_S))
                begun = phase, at_s
        if begun is not None:
            spans.append(PhaseSpan(*begun, end_s, is_cut=True))
    return spans


def _phase(ratio: float) -> PacedPhase:
    if ratio > _UP:
        return PacedPhase.UP
    return PacedPhase.DOWN if ratio < _DOWN else PacedPhase.STEADY


def spans_of(course: SenderCourse, phase: PacedPhase) -> list[PhaseSpan]:
    """The spans of a phase that the next one ended.

    Raises:
        NotApplicableError: there are none.
    """
    spans = [span for span in phase_spans(course) if span.phase is phase and not span.is_cut]
    if not spans:
        raise NotApplicableError(f"its pacing rate never went {phase.value}")
    return spans
