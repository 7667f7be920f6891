"""Measures of windows that several families share: cuts by a loss, and growth by rounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from headway.instruments.conformance.case import noticed_loss_s
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import (
    DrawnBound,
    Examination,
    Mark,
    NotApplicableError,
)

_ROUNDING_PACKETS = 1.5
"""By how many packets a window may be off that is counted in whole ones, or grows by one in a round."""
_APART_ROUNDS = 1.5
"""Round trips between losses that are two events of congestion."""
_FEWEST_DOUBLINGS = 3
_DOUBLING_ROUNDS = 0.85, 1.2
"""Windows are known when acknowledgments come, which are spread over a part of a round trip."""


def examine_cut(
    course: SenderCourse, examination: Examination, path_loss_s: float, factor: float
) -> None:
    """Measure the cut that a loss on the path leads to.

    Args:
        course: of the sender.
        examination: takes the ratio.
        path_loss_s: when the path lost a packet.
        factor: what the window should be multiplied by.
    """
    before_s = path_loss_s - _APART_ROUNDS * course.rtt_at(path_loss_s)
    if len(course.between(before_s, path_loss_s).losses_s):
        raise NotApplicableError("it was recovering from other losses when the path lost a packet")
    cut = course.cut(noticed_loss_s(course, path_loss_s))
    slack = _ROUNDING_PACKETS * course.packet_bytes / cut.before
    examination.measure(
        "window a round trip after the loss over that before it",
        cut.ratio,
        factor - slack,
        factor + slack,
    )
    rtt_s = course.rtt_at(cut.at_s)
    examination.level(f"{factor:g} windows", cut.at_s, cut.at_s + 3 * rtt_s, factor * cut.before)
    examination.marks += [Mark(path_loss_s, "lost"), Mark(cut.at_s, "noticed")]
    examination.span_s = (path_loss_s - 5 * rtt_s, cut.at_s + 8 * rtt_s)


def doubling_times_s(course: SenderCourse, most_bytes: float) -> list[float]:
    """When the window first was twice its first size, four times, and so on, as far as that is below a size."""
    first = float(course.window_bytes[~np.isnan(course.window_bytes)][0])
    times: list[float] = []
    size = 2 * first
    while size <= most_bytes and len(reached := np.flatnonzero(course.window_bytes >= size)):
        times.append(float(course.at_s[reached[0]]))
        size *= 2
    return times


def examine_doubling(
    course: SenderCourse, examination: Examination, scenario: SenderScenario
) -> None:
    """Measure in how many round trips the window doubles in slow start, far below the path's capacity."""
    most = scenario.bdp_bytes / 3
    times = doubling_times_s(course, most)
    if len(times) < _FEWEST_DOUBLINGS:
        raise NotApplicableError(
            f"its window doubled {len(times)} times before it was a third of what the path holds"
        )
    rtt_s = course.rtt_at(times[0])
    rounds = [(later - before) / rtt_s for before, later in pairwise(times)]
    examination.measure("round trips of a doubling", float(np.mean(rounds)), *_DOUBLING_ROUNDS)
    first = course.window_at(times[0])
    doubled = [(times[0] + n * rtt_s, first * 2.0**n) for n in range(len(times))]
    examination.bounds.append(DrawnBound("doubled each round trip", tuple(doubled)))
    examination.level("a third of the path", times[0], doubled[-1][0], most)
    examination.span_s = (times[0] - 2 * rtt_s, doubled[-1][0] + 2 * rtt_s)
