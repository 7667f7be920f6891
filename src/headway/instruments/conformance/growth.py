"""Measures of windows that several families share: cuts by losses, growth by rounds, collapse, and unused windows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from headway.instruments.conformance.case import noticed_loss_s
from headway.instruments.conformance.course import CourseSource, SenderCourse, Series
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import (
    DrawnBound,
    Examination,
    Mark,
    NotApplicableError,
)

_ROUNDING_PACKETS = 1.5
"""By how many packets a window may be off that is counted in whole ones, or grows by one in a round."""
_ROUNDING_PACKETS_IN_FLIGHT = 3.0
"""The same of what is in flight, which is known a round later."""
_APART_ROUNDS = 1.5
"""Round trips between losses that are two events of congestion."""
_FEWEST_DOUBLINGS = 3
_HANDSHAKE_PACKETS = 5
"""More than those of a handshake."""
_DOUBLING_ROUNDS_IN_FLIGHT = 0.8, 1.4
"""Of what is in flight, which a sender that paces brings up to its window by the end of a round only."""
_DOUBLING_ROUNDS = 0.85, 1.2
"""Windows are known when acknowledgments come, which are spread over a part of a round trip."""
_COLLAPSED_PACKETS = 2.1
"""RFC 9002, section 7.2: the least window is two datagrams. TCP's after a time-out is one (RFC 5681, section 3.1)."""
_LEAST_UNUSED_SHARE = 0.5
"""Of the time in which less than half of the window is in flight, where the application limits the rate."""
_UNUSED_FACTOR = 2.2
"""A window may double that was filled by half, and is not filled any more then."""


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
    slack = rounding_bytes(course) / cut.before
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


def rounding_bytes(course: SenderCourse) -> float:
    """By how much a window may be off that is counted in whole packets."""
    packets = _ROUNDING_PACKETS_IN_FLIGHT if course.is_of_packets else _ROUNDING_PACKETS
    return packets * course.packet_bytes


def examine_single_cut(
    course: SenderCourse, examination: Examination, path_loss_s: float, factor: float
) -> None:
    """Measure that losses of one flight lead to one cut: the window is no lower in the rounds that follow.

    Arguments are those of `examine_cut`.
    """
    examine_cut(course, examination, path_loss_s, factor)
    loss_s = noticed_loss_s(course, path_loss_s)
    before = course.window_at(np.nextafter(loss_s, 0.0))
    end_s = course.settled_s(loss_s) + 3 * course.rtt_at(loss_s)
    least = float(np.nanmin(course.between(loss_s, end_s).window_bytes))
    slack = rounding_bytes(course) / before
    examination.measure("least window in the next round trips", least / before, low=factor - slack)


def doubling_times_s(course: SenderCourse, most_bytes: float) -> list[float]:
    """When the window first was twice its first size, four times, and so on, as far as that is below a size."""
    first = float(course.window_bytes[~np.isnan(course.window_bytes)][0])
    if course.is_of_packets:
        first = _first_flight_bytes(course)
    times: list[float] = []
    size = 2 * first
    while size <= most_bytes and len(reached := np.flatnonzero(course.window_bytes >= size)):
        times.append(float(course.at_s[reached[0]]))
        size *= 2
    return times


def _first_flight_bytes(course: SenderCourse) -> float:
    """What is in flight in the first round trip after the handshake, of which nothing else tells the first window."""
    begun = np.flatnonzero(course.in_flight_bytes >= _HANDSHAKE_PACKETS * course.packet_bytes)
    if not len(begun):
        raise NotApplicableError("hardly anything was ever in flight")
    begin_s = float(course.at_s[begun[0]])
    return course.most_in_flight(begin_s, begin_s + 0.9 * course.rtt_at(begin_s))


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
    limits = _DOUBLING_ROUNDS_IN_FLIGHT if course.is_of_packets else _DOUBLING_ROUNDS
    examination.measure("round trips of a doubling", float(np.mean(rounds)), *limits)
    first = course.window_at(times[0])
    doubled = [(times[0] + n * rtt_s, first * 2.0**n) for n in range(len(times))]
    examination.bounds.append(DrawnBound("doubled each round trip", tuple(doubled)))
    examination.level("a third of the path", times[0], doubled[-1][0], most)
    examination.span_s = (times[0] - 2 * rtt_s, doubled[-1][0] + 2 * rtt_s)


def rounds_between(course: SenderCourse, begin_s: float, end_s: float) -> float:
    """How many round trips there are from a time until another: each ends when what was sent at its beginning is acknowledged.

    Raises:
        NotApplicableError: the other time is no later.
    """
    if end_s <= begin_s:
        raise NotApplicableError(f"nothing is left of the transfer after {begin_s:.3g} s")
    if course.source is CourseSource.TCP_INFO:
        return _sampled_rounds(course, begin_s, end_s)
    known = ~np.isnan(course.rtt_s)
    acknowledged_s = course.at_s[known]
    sent_s = np.maximum.accumulate(acknowledged_s - course.rtt_s[known])
    rounds, at_s = 0.0, begin_s
    while at_s < end_s:
        later = int(np.searchsorted(sent_s, at_s))
        next_s = float(acknowledged_s[later]) if later < len(sent_s) else at_s + course.rtt_at(at_s)
        next_s = max(next_s, at_s + 1e-6)
        if next_s > end_s:
            return rounds + (end_s - at_s) / (next_s - at_s)
        rounds, at_s = rounds + 1, next_s
    return rounds


def _sampled_rounds(course: SenderCourse, begin_s: float, end_s: float) -> float:
    """The same of samples, which may be farther apart than a round trip."""
    times = np.linspace(begin_s, end_s, 200)
    rtts = np.array([course.rtt_at(at_s) for at_s in times.tolist()])
    return float(np.mean(1 / rtts) * (end_s - begin_s))


def packets_per_round(course: SenderCourse, begin_s: float, end_s: float) -> float:
    """By how many packets the window grew in a round trip, from a time until another."""
    grown = (course.window_at(end_s) - course.window_at(begin_s)) / course.packet_bytes
    return grown / rounds_between(course, begin_s, end_s)


def first_loss_s(course: SenderCourse) -> float:
    """When it first noticed a loss.

    Raises:
        NotApplicableError: it noticed none.
    """
    if not len(course.losses_s):
        raise NotApplicableError("it declared no packet lost, when the path lost some")
    return float(course.losses_s[0])


def recovered_s(course: SenderCourse) -> float:
    """When the window begins to grow again after the first loss.

    Raises:
        NotApplicableError: it noticed none.
    """
    loss_s = first_loss_s(course)
    settled_s = course.settled_s(loss_s)
    here = course.between(loss_s, settled_s + 2 * course.rtt_at(settled_s))
    least = np.flatnonzero(here.window_bytes <= np.nanmin(here.window_bytes))
    return max(float(here.at_s[least[-1]]), settled_s)


def examine_curve(
    course: SenderCourse,
    examination: Examination,
    curve: Callable[[float], float],
    name: str,
    begin_s: float,
    end_s: float,
    within: float,
) -> None:
    """Measure how far windows are from a curve, at most.

    Args:
        course: of the sender.
        examination: takes the distance.
        curve: windows in packets by the seconds since ``begin_s``.
        name: what the curve is.
        begin_s: when it begins.
        end_s: when it ends.
        within: as a share of the window.
    """
    late_s = course.settled_s(begin_s) - begin_s if course.is_of_packets else 0.0
    times: Series = np.linspace(begin_s + late_s, end_s, 60)
    # Windows follow the curve by acknowledgments, a round trip early or late.
    worst = 0.0
    for at_s in times.tolist():
        lag_s = 1.2 * course.rtt_at(at_s)
        near = [curve(max(at_s + shift - begin_s, 0.0)) for shift in np.linspace(-lag_s, lag_s, 9)]
        window = course.window_at(at_s) / course.packet_bytes
        worst = max(worst, (window - max(near)) / window, (min(near) - window) / window)
    examination.measure(f"farthest from {name}, share of the window", worst, high=within)
    points = tuple(
        (float(at_s), curve(float(at_s) - begin_s) * course.packet_bytes) for at_s in times
    )
    examination.bounds.append(DrawnBound(name, points))
    examination.span_s = (max(begin_s - 1.0, 0.0), end_s)


def examine_collapse(
    course: SenderCourse, examination: Examination, blackout_s: tuple[float, float]
) -> None:
    """Measure that nothing is left of the window after a time in which all packets were lost.

    Args:
        course: of the sender.
        examination: takes the windows.
        blackout_s: when all packets to the client were lost.
    """
    begin_s, end_s = blackout_s
    before = course.window_at(begin_s) / course.packet_bytes
    if before < 4 * _COLLAPSED_PACKETS:
        raise NotApplicableError(f"its window was {before:.3g} packets before the outage")
    after = course.between(begin_s, float(course.at_s[-1]))
    least = float(np.nanmin(after.window_bytes)) / course.packet_bytes
    examination.measure("least window after the outage", least, 0.9, _COLLAPSED_PACKETS, "packets")
    level = _COLLAPSED_PACKETS * course.packet_bytes
    examination.level("two packets", begin_s, float(course.at_s[-1]), level)
    examination.marks += [Mark(begin_s, "outage"), Mark(end_s, "it ends")]


def _unused_share(course: SenderCourse) -> float:
    """In what share of the time less than half of the window was in flight."""
    times = np.linspace(course.at_s[0], course.at_s[-1], 400)
    places = np.searchsorted(course.at_s, times, side="right") - 1
    return float(np.mean(course.in_flight_bytes[places] < course.window_bytes[places] / 2))


def examine_unused(course: SenderCourse, examination: Examination) -> None:
    """Measure that a window does not grow which the application does not use."""
    most = float(np.nanmax(course.in_flight_bytes))
    window = float(np.nanmax(course.window_bytes))
    if _unused_share(course) < _LEAST_UNUSED_SHARE:
        raise NotApplicableError("the application was hardly ever limited: it filled its window")
    examination.measure(
        "largest window over the most in flight", window / most, high=_UNUSED_FACTOR
    )
    examination.level(
        f"{_UNUSED_FACTOR:g} times the most in flight",
        float(course.at_s[0]),
        float(course.at_s[-1]),
        _UNUSED_FACTOR * most,
    )
