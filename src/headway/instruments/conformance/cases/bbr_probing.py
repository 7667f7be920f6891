"""BBR's ProbeBW and ProbeRTT: draft-ietf-ccwg-bbr, sections 5.3.3 and 5.3.4, and its example test cases."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.bbrphases import (
    PacedPhase,
    PhaseSpan,
    bdp_bytes,
    cruising_bytes_s,
    next_state,
    pacing_at,
    phase_spans,
    spans_of,
    state_begins,
)
from headway.instruments.conformance.cases.bbr_startup import APPLICATION, BbrCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import rounds_between
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, Mark, NotApplicableError
from headway.overriding import override

UP_GAIN, DOWN_GAIN = 1.25, 0.9
"""BBR.ProbeUpPacingGain, BBR.ProbeDownPacingGain."""
PROBE_RTT_INTERVAL_S, PROBE_RTT_S, PROBE_RTT_GAIN = 5.0, 0.2, 0.5
"""BBR.ProbeRTTInterval, BBR.ProbeRTTDuration, BBR.ProbeRTTCwndGain."""
_GAIN_WITHIN = 0.02
_LONG = SenderScenario(rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=11)
_IDLE_S = 5.0
_PAUSE_S = 0.1
_ROUND_WITHIN = 0.3
"""Of a round trip: how early or late a probe may begin after the one in which a pause fell."""
_SLOWER_S = 2.8
_MOST_CYCLE_S = 8.0
"""BBR.bw_probe_wait twice, as ProbeRTT may come between, and a probe that pauses prolong."""
_LEAST_WAIT_S, _MOST_WAIT_S = 1.9, 3.3
"""BBR.bw_probe_wait is 2 to 3 s, of which the end of a round may be missing."""


def _followed_by(course: SenderCourse, span: PhaseSpan) -> PacedPhase | None:
    return next(
        (later.phase for later in phase_spans(course) if later.begin_s >= span.end_s - 1e-9), None
    )


def _show(course: SenderCourse, examination: Examination, span: PhaseSpan, name: str) -> None:
    examination.marks += [Mark(span.begin_s, name), Mark(span.end_s, "its end")]
    rtt_s = course.rtt_at(span.begin_s)
    examination.span_s = (span.begin_s - 6 * rtt_s, span.end_s + 8 * rtt_s)


class ProbeUpPlateau(BbrCase):
    """Exit from ProbeUp on a plateau."""

    name = "bbr-probe-up-plateau"
    source = "draft-ietf-ccwg-bbr, Exiting PROBE_UP on Bandwidth Plateau"
    description = "Probing up paces at 1.25 times the rate until it has not grown for three rounds, and then goes down."
    scenario = _LONG

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        if len(course.losses_s):
            raise NotApplicableError("it declared packets lost")
        span = spans_of(course, PacedPhase.UP)[0]
        gain = pacing_at(course, (span.begin_s + span.end_s) / 2) / cruising_bytes_s(course)
        examination.measure(
            "pacing gain", gain, UP_GAIN * (1 - _GAIN_WITHIN), UP_GAIN * (1 + _GAIN_WITHIN)
        )
        rounds = rounds_between(course, span.begin_s, span.end_s)
        examination.measure("rounds that it lasts", rounds, 2.0, 5.5)
        down = _followed_by(course, span) is PacedPhase.DOWN
        examination.measure("goes down then (1: yes)", float(down), low=1.0)
        _show(course, examination, span, "up")


class ProbeUpLossLimited(BbrCase):
    """Exit from ProbeUp on loss, though the application limits the rate."""

    name = "bbr-probe-up-loss"
    source = "draft-ietf-ccwg-bbr, Exiting PROBE_UP on Loss When Application-Limited"
    description = "Where the application limits the rate, more than 2 % of losses end probing up within two rounds."
    scenario = SenderScenario(
        rate_mbit=50,
        rtt_ms=100,
        queue_bdp=2,
        seconds=1,
        workload=APPLICATION,
        down={"changes": [{"at": "2 s", "loss": "10 %"}]},
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        spans = [span for span in spans_of(course, PacedPhase.UP) if span.begin_s > 2.0]
        if not spans:
            raise NotApplicableError("it did not probe up after the losses began")
        rounds = [rounds_between(course, span.begin_s, span.end_s) for span in spans]
        examination.measure("rounds that a probe lasts, median", float(np.median(rounds)), high=3.0)
        _show(course, examination, spans[0], "up")


class ProbeUpLoss(BbrCase):
    """Loss in ProbeUp."""

    name = "bbr-probe-up-loss-longterm"
    source = "draft-ietf-ccwg-bbr, Handling Loss During PROBE_UP After inflight_longterm is Set"
    description = "A probe that meets a queue without room ends within two rounds, goes down, and loses few packets."
    scenario = SenderScenario(rate_mbit=20, rtt_ms=60, queue_bdp=0.1, seconds=11)

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        spans = spans_of(course, PacedPhase.UP)
        if len(spans) < 2:
            raise NotApplicableError("it probed up less than twice")
        lossy = [
            span
            for span in spans[1:]
            if len(course.between(span.begin_s, span.end_s + 0.1).losses_s)
        ]
        if not lossy:
            raise NotApplicableError("no probe after the first met a loss")
        rounds = [rounds_between(course, span.begin_s, span.end_s) for span in lossy]
        examination.measure("rounds that a probe lasts", max(rounds), high=2.6)
        down = all(_followed_by(course, span) is PacedPhase.DOWN for span in lossy)
        examination.measure("goes down then (1: yes)", float(down), low=1.0)
        _show(course, examination, lossy[0], "up")


class ProbeDownInflight(BbrCase):
    """Exit from ProbeDown on what is in flight."""

    name = "bbr-probe-down-inflight"
    source = "draft-ietf-ccwg-bbr, Exiting PROBE_DOWN on Inflight"
    description = "Going down paces at 0.9 times the rate until no more is in flight than the path holds, and then cruises."
    scenario = _LONG

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        spans = [span for span in spans_of(course, PacedPhase.DOWN) if span.begin_s > 1.5]
        if not spans:
            raise NotApplicableError("it did not go down")
        span = spans[0]
        gain = pacing_at(course, (span.begin_s + span.end_s) / 2) / cruising_bytes_s(course)
        examination.measure(
            "pacing gain", gain, DOWN_GAIN * (1 - _GAIN_WITHIN), DOWN_GAIN * (1 + _GAIN_WITHIN)
        )
        product = bdp_bytes(course, self.scenario)
        at_end = course.least_in_flight(span.end_s - 0.02, span.end_s - 1e-6)
        examination.measure("in flight at its end over the path's", at_end / product, high=1.05)
        steady = _followed_by(course, span) is PacedPhase.STEADY
        examination.measure("cruises then (1: yes)", float(steady), low=1.0)
        examination.level("what the path holds", span.begin_s, span.end_s, product)
        _show(course, examination, span, "down")


class ProbeDownTime(BbrCase):
    """Exit from ProbeDown on time."""

    name = "bbr-probe-down-time"
    source = "draft-ietf-ccwg-bbr, Exiting PROBE_DOWN After Max Time"
    description = (
        "If what is in flight does not come down, since the rate fell by a fifth, going down ends after the wait for a probe, "
        "without cruising: a round trip later the sender probes up."
    )
    # A shorter delay sets off the time until ProbeRTT, which would come between.
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=6,
        seconds=8,
        down={
            "changes": [
                {"at": "2 s", "delay": "28 ms"},
                {"at": f"{_SLOWER_S:g} s", "rate": "16 Mbit/s"},
            ]
        },
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        spans = phase_spans(course, until_s=_SLOWER_S)
        slow = [
            place
            for place, span in enumerate(spans)
            if span.phase is PacedPhase.DOWN and span.begin_s > _SLOWER_S
        ]
        if not slow or len(spans) <= slow[0] + 2:
            raise NotApplicableError("it did not go down after the rate fell, and probe again")
        down, between, up = spans[slow[0] : slow[0] + 3]
        examination.measure(
            "goes down for", down.end_s - down.begin_s, _LEAST_WAIT_S, _MOST_WAIT_S, "s"
        )
        rounds = rounds_between(course, between.begin_s, between.end_s)
        examination.measure("rounds until it probes up", rounds, high=1.6)
        examination.measure("probes up then (1: yes)", float(up.phase is PacedPhase.UP), low=1.0)
        _show(course, examination, down, "down")


class ProbeRtt(BbrCase):
    """ProbeRTT."""

    name = "bbr-probe-rtt"
    source = "draft-ietf-ccwg-bbr, Entering and Exiting PROBE_RTT"
    description = (
        "After 5 s without a new least round-trip time, the window is half of what the path holds, for 200 ms and a round "
        "trip; then ProbeBW goes on."
    )
    scenario = _LONG

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = course.state_spans("probe_rtt")[0] if self._has(course) else (0.0, 0.0)
        product = bdp_bytes(course, self.scenario)
        examination.measure("begins after", begin_s, PROBE_RTT_INTERVAL_S, 6.0, "s")
        here = course.between(begin_s + 0.5 * (end_s - begin_s), end_s - 0.005)
        window = float(np.median(here.window_bytes)) / product
        examination.measure(
            "window over what the path holds", window, PROBE_RTT_GAIN * 0.9, PROBE_RTT_GAIN * 1.1
        )
        rtt_s = self.scenario.rtt_s
        examination.measure(
            "lasts", end_s - begin_s, PROBE_RTT_S, PROBE_RTT_S + 4 * rtt_s, unit="s"
        )
        back = next_state(course, begin_s) == "probe_bw"
        examination.measure("ProbeBW goes on (1: yes)", float(back), low=1.0)
        examination.level("half of what the path holds", begin_s, end_s, PROBE_RTT_GAIN * product)
        examination.span_s = (begin_s - 0.5, end_s + 0.7)

    def _has(self, course: SenderCourse) -> bool:
        state_begins(course, "probe_rtt")
        return True


class ProbeRttSkipped(BbrCase):
    """No ProbeRTT after idle times."""

    name = "bbr-probe-rtt-idle"
    source = "draft-ietf-ccwg-bbr, Skipping PROBE_RTT Due to Application-Limited Sending"
    description = "After an idle time of more than 5 s the sender goes on without ProbeRTT."
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=60,
        queue_bdp=4,
        seconds=1,
        workload={
            "kind": "video",
            "ladder": ["4 Mbit/s"],
            "segment": "10 s",
            "duration": "50 s",
            "buffer": "20 s",
            "rule": "lowest",
        },
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        restarts = _restarts(course, _IDLE_S)
        if not restarts:
            raise NotApplicableError("it was never idle for 5 s")
        probes = [state.at_s for state in course.states if state.name == "probe_rtt"]
        hasty = sum(any(0 <= at_s - restart < 1.0 for at_s in probes) for restart in restarts)
        examination.measure("restarts with ProbeRTT within a second", float(hasty), high=0.0)
        examination.measure("restarts", float(len(restarts)), low=1.0)
        examination.marks += [Mark(restart, "restart") for restart in restarts]


class PauseInRefill(BbrCase):
    """An application that pauses in ProbeBW's refill."""

    name = "bbr-refill-pause"
    source = "draft-ietf-ccwg-bbr, Application-Limited During PROBE_REFILL"
    description = (
        "If the application pauses in the round trip before a probe, its rates are not taken for the path's: the sender probes "
        "up all the same, its estimate does not fall, and it probes again later."
    )
    scenario = SenderScenario(
        rate_mbit=20,
        rtt_ms=100,
        queue_bdp=3,
        seconds=1,
        workload={
            "kind": "requests",
            "count": 100,
            "down": "600 kB",
            "users": 1,
            "think": "100 ms",
        },
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        probes = [span for span in phase_spans(course) if span.phase is PacedPhase.UP]
        paused = [span for span in probes[:-1] if _pauses_before(course, span)]
        if not paused:
            raise NotApplicableError(
                "no pause of the application fell into a round trip before a probe"
            )
        cruising = cruising_bytes_s(course)
        gains = [pacing_at(course, (s.begin_s + s.end_s) / 2) / cruising for s in paused]
        examination.measure("pacing gain of such a probe, least", min(gains), UP_GAIN * 0.95)
        later = [_estimate_after(course, span) / cruising for span in paused]
        examination.measure("estimate after it over that in all, least", min(later), 0.95, 1.05)
        waits = [probes[probes.index(span) + 1].begin_s - span.begin_s for span in paused]
        examination.measure("until the next probe, most", max(waits), high=_MOST_CYCLE_S, unit="s")
        _show(course, examination, paused[0], "up")


def _pauses_before(course: SenderCourse, probe: PhaseSpan) -> bool:
    """Whether what began a probe was the acknowledgment of what was sent first after a pause."""
    rtt_s = course.rtt_at(probe.begin_s)
    begins_s = np.array(_restarts(course, _PAUSE_S))
    return bool(np.any(np.abs(probe.begin_s - begins_s - rtt_s) < _ROUND_WITHIN * rtt_s))


def _estimate_after(course: SenderCourse, probe: PhaseSpan) -> float:
    """The pacing rate of most of the time until the next probe is due, bytes per second."""
    times = np.arange(probe.end_s, probe.end_s + _LEAST_WAIT_S, 0.01)
    return float(np.median([pacing_at(course, at_s) for at_s in times.tolist()]))


def _restarts(course: SenderCourse, idle_s: float) -> list[float]:
    """When it sent again after idle times."""
    packet = course.packet_bytes
    busy = course.at_s[course.in_flight_bytes > packet]
    gaps = np.flatnonzero(np.diff(busy) > idle_s)
    return [float(at_s) for at_s in busy[gaps + 1]]


CASES = (
    ProbeUpPlateau(),
    ProbeUpLossLimited(),
    ProbeUpLoss(),
    ProbeDownInflight(),
    ProbeDownTime(),
    ProbeRtt(),
    ProbeRttSkipped(),
    PauseInRefill(),
)
