"""Prague: draft-briscoe-iccrg-prague-congestion-control-04, section 2.4."""

from __future__ import annotations

from dataclasses import replace

from headway.instruments.conformance.case import CaseFamily, ConformanceCase, noticed_mark_s
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import examine_cut, rounds_between
from headway.instruments.conformance.marks import examine_mark
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, NotApplicableError
from headway.overriding import override

GAIN = 1 / 16
"""Of the moving average."""
_GROWTH_PACKETS = 1.2
"""The window goes on growing by a packet in a round trip."""
_FIRST_MARK_S, _LATER_S = 2.5, 1.4
_FIRST = SenderScenario(
    rate_mbit=20,
    rtt_ms=60,
    queue_bdp=4,
    seconds=3.2,
    lost_packets=(120,),
    marks_s=(_FIRST_MARK_S, _FIRST_MARK_S + 0.004),
)
"""A loss ends slow start, and the first mark comes later, in congestion avoidance."""
_LATER = replace(
    _FIRST, seconds=2, lost_packets=(), fault="mark down 150", marks_s=(_LATER_S, _LATER_S + 0.004)
)
"""A mark in slow start, and a few about fifteen round trips later."""
_LATER_FLIGHT = replace(_LATER, marks_s=(_LATER_S, _LATER_S + 0.04))
"""The same with two thirds of a flight at the end."""


def average_after(rounds: float) -> float:
    """The moving average so many round trips after the mark that made it 1, if no packet was marked meanwhile."""
    return float((1 - GAIN) ** rounds)


class _PragueCase(ConformanceCase):
    family = CaseFamily.PRAGUE


class _LaterMark(_PragueCase):
    """A mark that an average of earlier ones judges."""

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        if not len(course.marks_s) or course.marks_s[0] > _LATER_S:
            raise NotApplicableError("nothing told it of the mark in slow start")
        assert self.scenario.marks_s
        later_s = self.scenario.marks_s[0]
        rounds = rounds_between(course, float(course.marks_s[0]), noticed_mark_s(course, later_s))
        # A round trip may be counted or not, and the marks themselves may be in the average already.
        least, most = average_after(rounds + 1), average_after(rounds - 1) + GAIN
        examine_mark(course, examination, later_s, 1 - most / 2, 1 - least / 2, _GROWTH_PACKETS)


class FirstMark(_PragueCase):
    """The first mark."""

    name = "prague-first-mark"
    source = "draft-briscoe-iccrg-prague-congestion-control-04, sections 2.4.2 and 2.4.3"
    description = "The first mark halves the window, as the average begins at 1."
    scenario = _FIRST

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_mark(course, examination, _FIRST_MARK_S, 0.5, 0.5, _GROWTH_PACKETS)


class LaterMark(_LaterMark):
    """A later mark."""

    name = "prague-average"
    source = "draft-briscoe-iccrg-prague-congestion-control-04, sections 2.4.2 and 2.4.3"
    description = "A mark takes half of the average, which loses a sixteenth in each round trip without marks."
    scenario = _LATER


class LaterMarks(_LaterMark):
    """Marks of a flight."""

    name = "prague-marks-one-cut"
    source = "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.3"
    description = "Marks of one flight take half of the average once, and not again."
    scenario = _LATER_FLIGHT


class PragueLoss(_PragueCase):
    """A loss."""

    name = "prague-loss"
    source = "draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.1"
    description = "A loss halves the window, whatever the average."
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=3.2, losses_s=(2.5,), marks_s=(0.4, 0.404)
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        if not len(course.marks_s):
            raise NotApplicableError("nothing told it of the mark in slow start")
        examine_cut(course, examination, self.scenario.losses_s[0], 0.5)


CASES = (FirstMark(), LaterMark(), LaterMarks(), PragueLoss())
