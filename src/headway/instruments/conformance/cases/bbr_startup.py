"""BBR's Startup and Drain: draft-ietf-ccwg-bbr, sections 5.3.1 and 5.3.2, and its example test cases."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from headway.instruments.conformance.bbrphases import (
    PACING_MARGIN,
    bdp_bytes,
    capacity_bytes_s,
    check_bbr,
    cruising_bytes_s,
    next_state,
    state_at,
    state_begins,
)
from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import rounds_between
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, Mark, NotApplicableError
from headway.overriding import override

STARTUP_GAIN, DRAIN_GAIN = 2.77, 0.5
"""BBR.StartupPacingGain and BBR.DrainPacingGain."""
_GAIN_WITHIN = 0.03
_PLATEAU = 1 / 1.25
"""The rate of which growth is less than a quarter."""
APPLICATION = {"kind": "requests", "count": 560, "down": "15 kB", "users": 4}
"""Four responses at a time, which are a tenth of what a path of 50 Mbit/s and 100 ms takes, for 14 s."""
_LOSSES_BEGIN_S, _LOSSES_END_S = 2.0, 2.5


class BbrCase(ConformanceCase):
    """A case of BBR: courses without its states or pacing rates are not judged."""

    family = CaseFamily.BBR

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        check_bbr(course)
        self.measure(course, examination)
        examination.marks += [
            Mark(state.at_s, state.name) for state in course.states if state.name != "probe_bw"
        ]

    @abstractmethod
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        """Measure a course of BBR; arguments are those of `check`."""


class StartupPlateau(BbrCase):
    """Exit from Startup on a plateau."""

    name = "bbr-startup-plateau"
    source = "draft-ietf-ccwg-bbr, Exiting STARTUP on Bandwidth Plateau"
    description = (
        "Startup paces at 2.77 times the rate, ends three rounds after the rate stops growing, and leaves an estimate within 2 "
        "% of the link's rate."
    )
    scenario = SenderScenario(rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=3)

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        drain_s = state_begins(course, "drain")
        estimate = cruising_bytes_s(course) / PACING_MARGIN
        capacity = capacity_bytes_s(course, self.scenario)
        examination.measure("estimate over the link's rate", estimate / capacity, 0.98, 1.02)
        startup = course.between(state_begins(course, "startup"), drain_s)
        most = float(np.nanmax(startup.pacing_bytes_s[startup.at_s > drain_s - 0.05]))
        examination.measure(
            "pacing gain",
            most / cruising_bytes_s(course),
            STARTUP_GAIN * (1 - _GAIN_WITHIN),
            STARTUP_GAIN * (1 + _GAIN_WITHIN),
        )
        plateau_s = float(startup.at_s[startup.pacing_bytes_s >= _PLATEAU * most][0])
        rounds = rounds_between(course, plateau_s, drain_s)
        examination.measure("rounds without growth", rounds, 2.5, 5.0)
        examination.marks.append(Mark(plateau_s, "plateau"))
        examination.span_s = (0.0, drain_s + 0.5)


class StartupLoss(BbrCase):
    """Exit from Startup on loss, though the application limits the rate."""

    name = "bbr-startup-loss"
    source = "draft-ietf-ccwg-bbr, Exiting STARTUP on Loss When Application-Limited"
    description = "High loss ends Startup within three round trips, also where the application limits the rate."
    scenario = SenderScenario(
        rate_mbit=50,
        rtt_ms=100,
        queue_bdp=2,
        seconds=1,
        workload=APPLICATION,
        down={
            "changes": [
                {"at": f"{_LOSSES_BEGIN_S:g} s", "loss": "30 %"},
                {"at": f"{_LOSSES_END_S:g} s", "loss": "0 %"},
            ]
        },
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        if state_at(course, _LOSSES_BEGIN_S) != "startup":
            raise NotApplicableError("it had left Startup before the losses began")
        if not len(course.losses_s):
            raise NotApplicableError("it declared no packet lost")
        first_s = float(course.losses_s[0])
        ends = [end_s for begin_s, end_s in course.state_spans("startup") if end_s > first_s]
        stays = not ends or ends[0] >= course.at_s[-1]
        left_s = float("nan") if stays else ends[0]
        rounds = float("nan") if stays else rounds_between(course, first_s, left_s)
        examination.measure("rounds from the first loss to the end of Startup", rounds, high=5.0)
        examination.marks.append(Mark(first_s, "first loss"))
        examination.span_s = (first_s - 1, first_s + 2)


class ApplicationLimitedStartup(BbrCase):
    """No exit from Startup while the application limits the rate."""

    name = "bbr-application-limited"
    source = "draft-ietf-ccwg-bbr, Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss"
    description = "Without loss, Startup goes on for as long as the application limits the rate."
    scenario = SenderScenario(
        rate_mbit=50, rtt_ms=100, queue_bdp=2, seconds=1, workload=APPLICATION
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        if len(course.losses_s):
            raise NotApplicableError("it declared packets lost")
        begin_s = state_begins(course, "startup")
        elsewhere = [end - begin for begin, end in course.state_spans("drain", "probe_bw")]
        examination.measure("time in Drain and ProbeBW", math.fsum(elsewhere), high=0.0, unit="s")
        examination.measure("time in all", float(course.at_s[-1]) - begin_s, low=8.0, unit="s")


class ProbeRttInStartup(BbrCase):
    """ProbeRTT during Startup."""

    name = "bbr-probe-rtt-in-startup"
    source = "draft-ietf-ccwg-bbr, Entering and Exiting PROBE_RTT During STARTUP"
    description = "ProbeRTT that begins in Startup leads back to it."
    scenario = ApplicationLimitedStartup.scenario

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        probe_s = state_begins(course, "probe_rtt")
        before = [state.name for state in course.states if state.at_s < probe_s]
        if not before or before[-1] != "startup":
            raise NotApplicableError("it was not in Startup when ProbeRTT began")
        returned = next_state(course, probe_s) == "startup"
        examination.measure("returned to Startup (1: yes)", float(returned), low=1.0)
        examination.span_s = (probe_s - 1.0, probe_s + 1.5)


class DrainInflight(BbrCase):
    """Exit from Drain on what is in flight."""

    name = "bbr-drain-inflight"
    source = "draft-ietf-ccwg-bbr, Exiting DRAIN Based on Inflight"
    description = (
        "Drain paces at half the rate, and ends when no more is in flight than the path holds."
    )
    scenario = StartupPlateau.scenario

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = course.state_spans("drain")[0]
        middle = course.between(begin_s + 0.3 * (end_s - begin_s), end_s - 0.001).pacing_bytes_s
        gain = float(np.median(middle)) / cruising_bytes_s(course)
        examination.measure("pacing gain", gain, DRAIN_GAIN * 0.95, DRAIN_GAIN * 1.05)
        product = bdp_bytes(course, self.scenario)
        at_end = course.least_in_flight(end_s - 0.02, end_s)
        examination.measure("in flight at its end over the path's", at_end / product, high=1.1)
        examination.measure(
            "rounds that it lasts", rounds_between(course, begin_s, end_s), high=3.5
        )
        examination.level("what the path holds", begin_s, end_s, product)
        examination.span_s = (begin_s - 0.3, end_s + 0.5)


class DrainRounds(BbrCase):
    """Exit from Drain after three rounds."""

    name = "bbr-drain-rounds"
    source = "draft-ietf-ccwg-bbr, Exiting DRAIN Based on Time"
    description = "If what is in flight does not come down, since the rate fell by 70 % meanwhile, Drain ends after three rounds."
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=4,
        seconds=2.5,
        down={"changes": [{"at": "860 ms", "rate": "6 Mbit/s"}]},
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = course.state_spans("drain")[0] if course.state_spans("drain") else (0, 0)
        if not -0.15 < begin_s - 0.86 < 0.1:
            raise NotApplicableError(
                "it was not about to enter Drain when the rate fell, at 0.86 s"
            )
        product = bdp_bytes(course, self.scenario)
        at_end = course.least_in_flight(end_s - 0.02, end_s)
        if at_end < 1.05 * product:
            raise NotApplicableError("what was in flight came down all the same")
        # It ends with the round that begins more than three after that in which it began.
        examination.measure("rounds in Drain", rounds_between(course, begin_s, end_s), 2.0, 4.3)
        examination.level("what the path held", begin_s, end_s, product)
        examination.span_s = (begin_s - 0.3, end_s + 0.7)


CASES = (
    StartupPlateau(),
    StartupLoss(),
    DrainInflight(),
    DrainRounds(),
    ApplicationLimitedStartup(),
    ProbeRttInStartup(),
)
