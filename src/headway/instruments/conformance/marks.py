"""Measures of what marks (ECN) do to windows, and of the rate that a sender has beside others."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.case import noticed_mark_s
from headway.instruments.conformance.course import CourseSource, SenderCourse, WindowCut
from headway.instruments.conformance.growth import rounding_bytes
from headway.instruments.conformance.verdict import (
    Examination,
    Mark,
    NotApplicableError,
)

_FRAME_BYTES = 1514.0
_LOGGED_S = 0.001
_CUT_ROUNDS = 0.9
"""Round trips after which a cut is seen, and the next one not yet."""
_MOST_APART_ROUNDS, _ROUNDED_CUTS = 2.25, 1.6
"""Round trips between cuts at most, before what a cut leaves is taken away; and cuts beyond one in a round trip."""
_LATER_ROUNDS = 3
"""Round trips after the first reduction in which there is no other, if no packet is marked any more."""


def examine_mark(
    course: SenderCourse,
    examination: Examination,
    path_mark_s: float,
    low: float,
    high: float,
    growth_packets: float = 0.0,
) -> None:
    """Measure the cut that marks of one flight lead to, and that there is no other.

    Args:
        course: of the sender.
        examination: takes the ratios.
        path_mark_s: when the path marked the first packet.
        low: the least that the window should be multiplied by.
        high: the most.
        growth_packets: by how much the window may grow until the cut is looked at.
    """
    noticed_s = noticed_mark_s(course, path_mark_s)
    _check_no_loss(course, path_mark_s, noticed_s)
    cut = _cut(course, noticed_s)
    rtt_s = course.rtt_at(noticed_s)
    slack = rounding_bytes(course) / cut.before
    examination.measure(
        "window a round trip after the mark over that before it",
        cut.ratio,
        low - slack,
        high + slack + growth_packets * course.packet_bytes / cut.before,
    )
    end_s = course.settled_s(noticed_s) + _LATER_ROUNDS * rtt_s
    least = float(np.nanmin(course.between(noticed_s, end_s).window_bytes))
    examination.measure("least window in the next round trips", least / cut.before, low - slack)
    for factor in dict.fromkeys((low, high)):
        level = factor * cut.before
        examination.level(f"{factor:.3g} windows", noticed_s, noticed_s + 3 * rtt_s, level)
    examination.marks += [Mark(path_mark_s, "marked"), Mark(noticed_s, "noticed")]
    examination.span_s = (path_mark_s - 5 * rtt_s, noticed_s + 8 * rtt_s)


def examine_marks_each_round(
    course: SenderCourse,
    examination: Examination,
    span_s: tuple[float, float],
    low: float,
    high: float,
) -> None:
    """Measure that marks in each round trip lead to a cut in each.

    Args:
        course: of the sender.
        examination: takes the ratios.
        span_s: from when until when the path marked all packets.
        low: the least that a cut should multiply the window by.
        high: the most.
    """
    noticed_s = noticed_mark_s(course, span_s[0])
    _check_no_loss(course, span_s[0], noticed_s)
    rtt_s = course.rtt_at(noticed_s)
    lasts_s = span_s[1] - span_s[0]
    before = _cut(course, noticed_s).before
    first = _first_cut(course, noticed_s, before)
    slack = rounding_bytes(course) / before
    examination.measure("left of the window by the first cut", first, low - slack, high + slack)
    last = course.window_at(noticed_s + lasts_s + _CUT_ROUNDS * rtt_s) / before
    cuts = float(np.log(last) / np.log(first)) if 0 < first < 1 else float("nan")
    # After a cut a sender may wait until less is in flight than its window, and the next cut is due
    # a round trip after it has sent again.
    least = lasts_s / rtt_s / (_MOST_APART_ROUNDS - low)
    examination.measure("cuts by as much", cuts, least, lasts_s / rtt_s + _ROUNDED_CUTS)
    examination.marks += [
        Mark(span_s[0], "all marked"),
        Mark(noticed_s, "noticed"),
        Mark(span_s[1], "no more"),
    ]
    examination.level(f"{low:g} windows", noticed_s, noticed_s + _CUT_ROUNDS * rtt_s, low * before)
    examination.span_s = (span_s[0] - 3 * rtt_s, noticed_s + lasts_s + 4 * rtt_s)


def _cut(course: SenderCourse, noticed_s: float) -> WindowCut:
    """What a mark did to the window, which a program may log shortly before the acknowledgment that told of it."""
    before = course.window_at(noticed_s - _LOGGED_S)
    return WindowCut(noticed_s, before, course.window_at(course.settled_s(noticed_s)))


def _first_cut(course: SenderCourse, noticed_s: float, before: float) -> float:
    """What the first of several cuts leaves, as a share of the window before."""
    if course.source is CourseSource.TCP_INFO:
        # The kernel comes down to its new threshold in a round trip, and samples may be late by a part of one.
        return course.threshold_at(noticed_s) / before
    return course.window_at(noticed_s + _CUT_ROUNDS * course.rtt_at(noticed_s)) / before


def _check_no_loss(course: SenderCourse, begin_s: float, noticed_s: float) -> None:
    near_s = 1.5 * course.rtt_at(noticed_s)
    if len(course.between(begin_s - near_s, noticed_s + near_s).losses_s):
        raise NotApplicableError("it declared packets lost when the path marked some")


def mean_rate_bytes_s(course: SenderCourse, begin_s: float, end_s: float) -> float:
    """The rate at which a sender's packets were acknowledged, by Little's law: what was in flight over how long it was.

    Raises:
        NotApplicableError: it did not send for so long.
    """
    if course.at_s[-1] < end_s:
        raise NotApplicableError(f"its transfer ended at {course.at_s[-1]:.3g} s")
    times = np.linspace(begin_s, end_s, 4000)
    places = np.searchsorted(course.at_s, times, side="right") - 1
    in_flight = np.nan_to_num(course.in_flight_bytes[places])
    rtts = np.array([course.rtt_at(at_s) for at_s in times.tolist()])
    return float(np.mean(in_flight / rtts))


def examine_share(
    course: SenderCourse,
    examination: Examination,
    span_s: tuple[float, float],
    fair_bytes_s: float,
    within: float,
) -> None:
    """Measure a sender's rate over its fair share, on a long average.

    Args:
        course: of the sender.
        examination: takes the ratio.
        span_s: over which time.
        fair_bytes_s: the link's rate over the number of flows.
        within: by what factor it may be less or more.
    """
    fair = fair_bytes_s * course.packet_bytes / _FRAME_BYTES
    rate = mean_rate_bytes_s(course, *span_s)
    examination.measure("rate over the fair share", rate / fair, 1 / within, within)
    examination.marks += [Mark(span_s[0], "from here"), Mark(span_s[1], "to here")]
