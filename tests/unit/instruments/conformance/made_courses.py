"""Made courses of senders: windows in packets by times, as a program's log or the kernel would tell them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from headway.instruments.conformance.course import CourseSource, EnteredState, SenderCourse

PACKET = 1200.0
Law = Callable[[float], float]
"""A number by seconds."""


def course(
    window: Law,
    *,
    seconds: float,
    rtt_s: float,
    flight: Law | None = None,
    losses_s: Sequence[float] = (),
    marks_s: Sequence[float] = (),
    states: Sequence[tuple[float, str]] = (),
    pacing_mbit: Law | None = None,
    rtt: Law | None = None,
    every_s: float = 0.005,
) -> SenderCourse:
    """A course with a window of packets; all of it is in flight unless another law says how much."""
    at_s = np.arange(0.0, seconds, every_s)
    windows = np.array([window(at) for at in at_s]) * PACKET
    flights = windows if flight is None else np.array([flight(at) for at in at_s]) * PACKET
    return SenderCourse(
        source=CourseSource.QLOG,
        packet_bytes=PACKET,
        at_s=at_s,
        window_bytes=windows,
        in_flight_bytes=flights,
        rtt_s=np.array([rtt(at) if rtt else rtt_s for at in at_s]),
        threshold_bytes=np.full(len(at_s), np.nan),
        pacing_bytes_s=np.array(
            [pacing_mbit(at) * 1e6 / 8 if pacing_mbit else np.nan for at in at_s]
        ),
        losses_s=np.array(losses_s, dtype=float),
        marks_s=np.array(marks_s, dtype=float),
        states=tuple(EnteredState(at, name) for at, name in states),
    )


def without_states(known: SenderCourse) -> SenderCourse:
    """The same of a program that logs no states."""
    return replace(known, states=())
