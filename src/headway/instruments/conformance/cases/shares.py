"""Shares of a link: two flows of one kind have equal ones in the long run."""

from __future__ import annotations

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.marks import examine_share
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination
from headway.overriding import override

_SHARED = SenderScenario(rate_mbit=6, rtt_ms=40, queue_bdp=2, seconds=40, rivals=1)
"""Two downloads over one link, of which the second begins a second later."""
_SPAN_S = 10.0, 40.0
"""Long enough for many cuts, and over before either can have ended."""
_WITHIN = 1.5
"""By what factor a share may differ from half, as losses meet the flows in turn."""


class _ShareCase(ConformanceCase):
    """A flow beside another of its kind."""

    scenario = _SHARED

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        fair = self.scenario.rate_bytes_s / (1 + self.scenario.rivals)
        examine_share(course, examination, _SPAN_S, fair, _WITHIN)


class NewRenoShare(_ShareCase):
    """Two NewReno flows."""

    name = "newreno-share"
    family = CaseFamily.NEWRENO
    source = "RFC 5681, section 3.1; RFC 9002, section 7.3; Chiu and Jain (1989)"
    description = "Beside another NewReno flow of the same path the sender has half of the link in the long run."


class CubicShare(_ShareCase):
    """Two CUBIC flows."""

    name = "cubic-share"
    family = CaseFamily.CUBIC
    source = "RFC 9438, section 5.6"
    description = "Beside another CUBIC flow of the same path the sender has half of the link in the long run."


CASES = (NewRenoShare(), CubicShare())
