"""CUBIC: RFC 9438."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.case import CaseFamily, ConformanceCase, noticed_loss_s
from headway.instruments.conformance.course import SenderCourse, WindowCut
from headway.instruments.conformance.growth import (
    examine_collapse,
    examine_curve,
    examine_cut,
    examine_single_cut,
    examine_unused,
    first_loss_s,
    packets_per_round,
    recovered_s,
)
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.scenarios import (
    BURST_OF_LOSSES,
    BURSTY_APPLICATION,
    ONE_LOSS,
    OUTAGE,
)
from headway.instruments.conformance.verdict import Examination, Mark, NotApplicableError
from headway.overriding import override

BETA, C = 0.7, 0.4
"""RFC 9438, sections 4.6 and 5; C in packets per second cubed."""
ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""Packets that the estimate of Reno's window grows by in a round trip (section 4.3)."""
_NEAR = 0.05
"""How far from the cubic function a window may be, as a share of it."""


# In slow start less may be in flight than the window has room for, so of packets W_max is what their cut leaves over 0.7.


def cubic_window(seconds: float, begins: float, most: float) -> float:
    """The cubic function: a window in packets (RFC 9438, sections 4.2, figures 1 and 2).

    Args:
        seconds: since the stage began.
        begins: the window at its beginning.
        most: W_max.
    """
    rises_s = np.cbrt((most - begins) / C)
    return float(C * (seconds - rises_s) ** 3 + most)


class _CubicCase(ConformanceCase):
    family = CaseFamily.CUBIC


class Decrease(_CubicCase):
    """A loss takes three tenths."""

    name = "cubic-decrease"
    source = "RFC 9438, section 4.6"
    description = "A loss multiplies the window by 0.7."
    scenario = ONE_LOSS

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_cut(course, examination, self.scenario.losses_s[0], BETA)


class OneDecrease(_CubicCase):
    """Losses of a flight take three tenths once."""

    name = "cubic-one-decrease"
    source = "RFC 9438, section 4.6; RFC 9002, section 7.3.2"
    description = "Ten losses of one flight multiply the window by 0.7 once, and not again."
    scenario = BURST_OF_LOSSES

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_single_cut(course, examination, self.scenario.blackouts_s[0][0], BETA)


class CubicGrowth(_CubicCase):
    """The cubic function."""

    name = "cubic-growth"
    source = "RFC 9438, sections 4.2, 4.4 and 4.5"
    description = (
        "After a loss the window follows C (t - K)^3 + W_max: first ever slower, then ever faster."
    )
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=100, queue_bdp=4, seconds=11, lost_packets=(250,)
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        cut = course.cut(loss_s := first_loss_s(course))
        begin_s = loss_s + course.rtt_at(loss_s)
        most, begins = cut.before / course.packet_bytes, cut.after / course.packet_bytes
        if course.is_of_packets:
            most = begins / BETA
        end_s = float(course.at_s[-1]) - 0.5
        _check_single_event(course, loss_s, end_s)
        examine_curve(
            course,
            examination,
            lambda seconds: cubic_window(seconds, begins, most),
            "C (t - K)^3 + W_max",
            begin_s,
            end_s,
            _NEAR,
        )
        rises_s = float(np.cbrt((most - begins) / C))
        if end_s < begin_s + rises_s + 2:
            raise NotApplicableError("the transfer ended before the window grew past W_max")
        examination.marks.append(Mark(begin_s + rises_s, "K"))


def _check_single_event(course: SenderCourse, loss_s: float, end_s: float) -> None:
    """Refuse courses in which more was lost than the path was told to lose."""
    later = course.between(loss_s + 2 * course.rtt_at(loss_s), end_s).losses_s
    if len(later):
        raise NotApplicableError(f"it declared more packets lost, at {later[0]:.3g} s")


class FastConvergence(_CubicCase):
    """A second loss soon."""

    name = "cubic-fast-convergence"
    source = "RFC 9438, section 4.7"
    description = (
        "After a loss below W_max the next W_max is 0.85 times the window, and not the window."
    )
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=100, queue_bdp=4, seconds=11, lost_packets=(250,), losses_s=(3.0,)
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        first, second = self._cuts(course)
        most = first.after / BETA if course.is_of_packets else first.before
        if second.before > 0.97 * most:
            raise NotApplicableError("its window was W_max again before the second loss")
        loss_s = second.at_s
        begin_s = loss_s + course.rtt_at(loss_s)
        window, begins = (value / course.packet_bytes for value in (second.before, second.after))
        end_s = min(loss_s + 6.5, float(course.at_s[-1]) - 0.2)
        examine_curve(
            course,
            examination,
            lambda seconds: cubic_window(seconds, begins, window * (1 + BETA) / 2),
            "the function with W_max = 0.85 windows",
            begin_s,
            end_s,
            _NEAR,
        )
        examination.level("the window at the loss", begin_s, end_s, second.before)
        examination.marks.append(Mark(loss_s, "second loss"))

    def _cuts(self, course: SenderCourse) -> tuple[WindowCut, WindowCut]:
        return (
            course.cut(first_loss_s(course)),
            course.cut(noticed_loss_s(course, self.scenario.losses_s[0])),
        )


class RenoFriendly(_CubicCase):
    """The Reno-friendly region."""

    name = "cubic-reno-friendly"
    source = "RFC 9438, section 4.3"
    description = "Over a short path the window grows by 0.53 packets in a round trip, up to the window before the loss."
    scenario = SenderScenario(rate_mbit=20, rtt_ms=10, queue_bdp=8, seconds=4, lost_packets=(70,))

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s, before = friendly_span(course)
        grown = packets_per_round(course, begin_s, end_s)
        examination.measure(
            "growth in a round trip", grown, 0.8 * ALPHA, 1.25 * ALPHA, unit="packets"
        )
        examination.level("the window before the loss", begin_s, end_s, before)
        examination.span_s = (begin_s - 0.3, end_s + 0.3)


class RenoFriendlyLater(_CubicCase):
    """The Reno-friendly region, later."""

    name = "cubic-reno-friendly-later"
    source = "RFC 9438, section 4.3"
    description = "Past the window before the loss, the Reno-friendly window grows by a packet in a round trip."
    scenario = RenoFriendly.scenario

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        _, begin_s, before = friendly_span(course)
        begin_s += 2 * course.rtt_at(begin_s)
        end_s = begin_s + 20 * course.rtt_at(begin_s)
        if end_s > float(course.at_s[-1]):
            raise NotApplicableError("the transfer ended before")
        grown = packets_per_round(course, begin_s, end_s)
        examination.measure("growth in a round trip", grown, 0.8, 1.2, unit="packets")
        examination.level("the window before the loss", begin_s, end_s, before)
        examination.span_s = (begin_s - 0.5, end_s + 0.2)


def friendly_span(course: SenderCourse) -> tuple[float, float, float]:
    """From when until when the window grows back to what it was before the first loss, and what that was.

    Raises:
        NotApplicableError: it does not come back.
    """
    begin_s = recovered_s(course)
    before = course.window_at(np.nextafter(first_loss_s(course), 0.0))
    later = course.at_s > begin_s
    back = np.flatnonzero(later & (course.window_bytes >= 0.97 * before))
    if not len(back):
        raise NotApplicableError("its window did not come back to what it was before the loss")
    return begin_s, float(course.at_s[back[0]]), before


class CubicCollapse(_CubicCase):
    """A time-out."""

    name = "cubic-collapse"
    source = "RFC 9438, section 4.8; RFC 9002, section 7.6"
    description = "After persistent congestion, or a time-out, the window is the least one."
    scenario = OUTAGE
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_collapse(course, examination, self.scenario.blackouts_s[0])


class CubicUnusedWindow(_CubicCase):
    """No growth without use."""

    name = "cubic-unused-window"
    source = "RFC 9438, sections 4.2 and 5.8"
    description = (
        "A window that the application does not use does not grow, however long that lasts."
    )
    scenario = BURSTY_APPLICATION
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_unused(course, examination)


class SpuriousLoss(_CubicCase):
    """A loss that was none."""

    name = "cubic-spurious-loss"
    source = "RFC 9438, section 4.9.2"
    description = (
        "If the packet comes after all that was held to be lost, the window is what it was before."
    )
    scenario = SenderScenario(
        rate_mbit=100, rtt_ms=60, queue_bdp=4, seconds=1.5, fault="delay down 150 by 30 ms"
    )
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        if not len(course.losses_s):
            raise NotApplicableError("it held no packet to be lost, when one came 30 ms late")
        loss_s = float(course.losses_s[0])
        before = course.window_at(np.nextafter(loss_s, 0.0))
        rtt_s = course.rtt_at(loss_s)
        end_s = loss_s + 3 * rtt_s
        after = course.window_at(end_s)
        slack = 1.5 * course.packet_bytes / before
        examination.measure(
            "window three round trips after over that before", after / before, 1 - slack
        )
        examination.level("the window before", loss_s, end_s, before)
        examination.marks.append(Mark(loss_s, "held to be lost"))
        examination.span_s = (loss_s - 4 * rtt_s, end_s + 2 * rtt_s)


CASES = (
    Decrease(),
    OneDecrease(),
    CubicGrowth(),
    FastConvergence(),
    RenoFriendly(),
    RenoFriendlyLater(),
    CubicCollapse(),
    CubicUnusedWindow(),
    SpuriousLoss(),
)
