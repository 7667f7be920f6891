"""NewReno: RFC 9002, section 7; over TCP RFC 5681."""

from __future__ import annotations

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import (
    examine_collapse,
    examine_cut,
    examine_doubling,
    examine_single_cut,
    examine_unused,
    packets_per_round,
    recovered_s,
)
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.scenarios import (
    BURST_OF_LOSSES,
    BURSTY_APPLICATION,
    FAST_START,
    ONE_LOSS,
    OUTAGE,
)
from headway.instruments.conformance.verdict import DrawnBound, Examination, Mark
from headway.overriding import override

BETA = 0.5
"""RFC 9002, appendix B.1: kLossReductionFactor."""
_GROWTH = 0.85, 1.1
"""Packets that the window grows by in a round trip, whose number is known at whole packets."""


class _NewRenoCase(ConformanceCase):
    family = CaseFamily.NEWRENO


class SlowStartDoubling(_NewRenoCase):
    """Slow start doubles."""

    name = "newreno-slow-start"
    source = "RFC 9002, section 7.3.1; RFC 5681, section 3.1"
    description = (
        "In slow start the window grows by what is acknowledged: it doubles in a round trip."
    )
    scenario = FAST_START

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_doubling(course, examination, self.scenario)


class Halving(_NewRenoCase):
    """A loss halves."""

    name = "newreno-halving"
    source = "RFC 9002, section 7.3.2; RFC 5681, section 3.1"
    description = "A loss halves the window."
    scenario = ONE_LOSS

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_cut(course, examination, self.scenario.losses_s[0], BETA)


class OneCut(_NewRenoCase):
    """Losses of a flight halve once."""

    name = "newreno-one-cut"
    source = "RFC 9002, section 7.3.2; RFC 6582"
    description = "Ten losses of one flight halve the window once, and not again."
    scenario = BURST_OF_LOSSES

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_single_cut(course, examination, self.scenario.blackouts_s[0][0], BETA)


class LinearGrowth(_NewRenoCase):
    """Growth by a packet a round trip."""

    name = "newreno-growth"
    source = "RFC 9002, section 7.3.3; RFC 5681, section 3.1"
    description = "In congestion avoidance the window grows by one packet in a round trip."
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=4.5, lost_packets=(120,)
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        begin_s = recovered_s(course)
        end_s = min(4.0, float(course.at_s[-1]))
        grown = packets_per_round(course, begin_s, end_s)
        examination.measure("growth in a round trip", grown, *_GROWTH, unit="packets")
        first = course.window_at(begin_s)
        last = first + course.packet_bytes * (
            (course.window_at(end_s) - first) / course.packet_bytes / grown if grown else 0.0
        )
        examination.bounds.append(
            DrawnBound("a packet each round trip", ((begin_s, first), (end_s, last)))
        )
        examination.span_s = (begin_s - 0.5, end_s)


class Collapse(_NewRenoCase):
    """Persistent congestion."""

    name = "newreno-collapse"
    source = "RFC 9002, section 7.6; RFC 5681, section 3.1"
    description = "After persistent congestion the window is the least one."
    scenario = OUTAGE
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_collapse(course, examination, self.scenario.blackouts_s[0])


class ProbeTimeout(_NewRenoCase):
    """Silence without losses."""

    name = "newreno-probe-timeout"
    source = "RFC 9002, sections 6.2.4 and 7.3.2"
    description = "A probe time-out without a loss changes nothing of the window."
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=4,
        seconds=4,
        lost_packets=(120,),
        silences_s=((2.5, 2.8),),
    )
    over_tcp = "a time-out of TCP's ends in slow start (RFC 5681), and is undone if it was spurious"
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = self.scenario.silences_s[0]
        before = course.window_at(begin_s)
        later_s = end_s + 4 * course.rtt_at(begin_s)
        after = course.window_at(later_s)
        slack = 2 * course.packet_bytes / before
        examination.measure("window after the silence over that before", after / before, 1 - slack)
        examination.level("the window before", begin_s, later_s, before)
        examination.marks += [Mark(begin_s, "silence"), Mark(end_s, "it ends")]
        examination.span_s = (begin_s - 0.5, later_s + 0.3)


class UnusedWindow(_NewRenoCase):
    """No growth without use."""

    name = "newreno-unused-window"
    source = "RFC 9002, section 7.8; RFC 7661"
    description = "A window that the application does not use does not grow."
    scenario = BURSTY_APPLICATION
    needs_window = True

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_unused(course, examination)


CASES = (
    SlowStartDoubling(),
    Halving(),
    OneCut(),
    LinearGrowth(),
    Collapse(),
    ProbeTimeout(),
    UnusedWindow(),
)
