"""CUBIC: RFC 9438."""

from __future__ import annotations

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import examine_cut
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination
from headway.overriding import override

BETA, C = 0.7, 0.4
"""RFC 9438, sections 4.6 and 5."""


class _CubicCase(ConformanceCase):
    family = CaseFamily.CUBIC


class Decrease(_CubicCase):
    """A loss takes three tenths."""

    name = "cubic-decrease"
    source = "RFC 9438, section 4.6"
    description = "A loss multiplies the window by 0.7."
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=4,
        seconds=3.2,
        lost_packets=(120,),
        losses_s=(2.5,),
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_cut(course, examination, self.scenario.losses_s[0], BETA)


CASES = (Decrease(),)
