"""NewReno: RFC 9002, section 7; over TCP RFC 5681."""

from __future__ import annotations

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import examine_cut, examine_doubling
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination
from headway.overriding import override

BETA = 0.5
"""RFC 9002, appendix B.1: kLossReductionFactor."""


class _NewRenoCase(ConformanceCase):
    family = CaseFamily.NEWRENO


class SlowStart(_NewRenoCase):
    """Slow start doubles."""

    name = "newreno-slow-start"
    source = "RFC 9002, section 7.3.1; RFC 5681, section 3.1"
    description = (
        "In slow start the window grows by what is acknowledged: it doubles in a round trip."
    )
    scenario = SenderScenario(rate_mbit=100, rtt_ms=100, queue_bdp=2, seconds=0.3)

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_doubling(course, examination, self.scenario)


class Halving(_NewRenoCase):
    """A loss halves."""

    name = "newreno-halving"
    source = "RFC 9002, section 7.3.2; RFC 5681, section 3.1"
    description = "A loss halves the window."
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


CASES = (SlowStart(), Halving())
