"""Marks (ECN): what NewReno and CUBIC do with them, RFC 9002, RFC 3168, RFC 8311 and RFC 8511."""

from __future__ import annotations

from dataclasses import replace

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.cases import cubic, newreno
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.marks import examine_mark, examine_marks_each_round
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination
from headway.overriding import override

NEWRENO_ABE, CUBIC_ABE = 0.8, 0.85
"""RFC 8511, section 3.1, which RFC 8311 allows: what a mark may leave of the window instead."""
_WITH_ECN = {"kernel": {"sysctls": {"net.ipv4.tcp_ecn": 1}}}
"""A client that asks for ECN over TCP."""
_ONE = SenderScenario(
    rate_mbit=20,
    rtt_ms=60,
    queue_bdp=4,
    seconds=3.2,
    lost_packets=(120,),
    marks_s=(2.5, 2.504),
    client=_WITH_ECN,
)
"""Slow start ends early, and a few packets in a row are marked later, in congestion avoidance."""
_FLIGHT = replace(_ONE, marks_s=(2.5, 2.54))
"""The same with two thirds of a flight."""
_ROUNDS = SenderScenario(
    rate_mbit=20,
    rtt_ms=200,
    queue_bdp=4,
    seconds=3.5,
    lost_packets=(250,),
    marks_s=(4.0, 4.8),
    client=_WITH_ECN,
)
"""The same with all packets of four round trips."""


class _MarkCase(ConformanceCase):
    """Marks of one flight."""

    factors: tuple[float, float]

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        assert self.scenario.marks_s
        examine_mark(course, examination, self.scenario.marks_s[0], *self.factors)


class _RoundsCase(ConformanceCase):
    """Marks in each of some round trips."""

    factors: tuple[float, float]

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        assert self.scenario.marks_s
        examine_marks_each_round(course, examination, self.scenario.marks_s, *self.factors)


class NewRenoMark(_MarkCase):
    """A mark halves."""

    name = "newreno-mark"
    family = CaseFamily.NEWRENO
    source = "RFC 9002, sections 7.1 and 7.3.2; RFC 3168, section 6.1.2; RFC 8511"
    description = "A mark halves the window, or leaves up to 0.8 of it as RFC 8511 allows."
    scenario = _ONE
    factors = newreno.BETA, NEWRENO_ABE


class NewRenoMarks(_MarkCase):
    """Marks of a flight halve once."""

    name = "newreno-marks-one-cut"
    family = CaseFamily.NEWRENO
    source = "RFC 9002, section 7.3.2 and appendix B.5; RFC 3168, section 6.1.2"
    description = "Marks of one flight cut the window once, and not again."
    scenario = _FLIGHT
    factors = newreno.BETA, NEWRENO_ABE


class NewRenoMarksEachRound(_RoundsCase):
    """Marks in each round trip."""

    name = "newreno-marks-each-round"
    family = CaseFamily.NEWRENO
    source = "RFC 9002, section 7.3.2 and appendix B.5; RFC 3168, section 6.1.2"
    description = "While all packets are marked, the window is cut once in each round trip."
    scenario = _ROUNDS
    factors = newreno.BETA, NEWRENO_ABE


class CubicMark(_MarkCase):
    """A mark takes three tenths."""

    name = "cubic-mark"
    family = CaseFamily.CUBIC
    source = "RFC 9438, section 4.6; RFC 3168, section 6.1.2; RFC 8511"
    description = (
        "A mark multiplies the window by 0.7, or leaves up to 0.85 of it as RFC 8511 allows."
    )
    scenario = _ONE
    factors = cubic.BETA, CUBIC_ABE


class CubicMarks(_MarkCase):
    """Marks of a flight take three tenths once."""

    name = "cubic-marks-one-cut"
    family = CaseFamily.CUBIC
    source = "RFC 9438, section 4.6; RFC 9002, section 7.3.2; RFC 3168, section 6.1.2"
    description = "Marks of one flight take their part of the window once, and not again."
    scenario = _FLIGHT
    factors = cubic.BETA, CUBIC_ABE


class CubicMarksEachRound(_RoundsCase):
    """Marks in each round trip."""

    name = "cubic-marks-each-round"
    family = CaseFamily.CUBIC
    source = "RFC 9438, section 4.6; RFC 9002, section 7.3.2; RFC 3168, section 6.1.2"
    description = (
        "While all packets are marked, they take their part of the window once in each round trip."
    )
    scenario = _ROUNDS
    factors = cubic.BETA, CUBIC_ABE


CASES = (
    NewRenoMark(),
    NewRenoMarks(),
    NewRenoMarksEachRound(),
    CubicMark(),
    CubicMarks(),
    CubicMarksEachRound(),
)
