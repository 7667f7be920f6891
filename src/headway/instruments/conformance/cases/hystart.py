"""HyStart++: RFC 9406."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.growth import examine_doubling
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, Mark, NotApplicableError
from headway.overriding import override

LEAST_THRESHOLD_S, MOST_THRESHOLD_S, DIVISOR = 0.004, 0.016, 8
"""RFC 9406, section 4.3: MIN_RTT_THRESH, MAX_RTT_THRESH, MIN_RTT_DIVISOR."""
CONSERVATIVE_ROUNDS = 5
"""CSS_ROUNDS."""
RISE_S, FALL_S = 0.55, 1.0
"""When delays change: a round has more than the eight samples by then that the algorithm waits for (N_RTT_SAMPLE)."""
_CONSERVATIVE_GROWTH = 1.32
"""In a round of conservative slow start the window grows by a quarter, which is read at its ends."""


def threshold_s(rtt_s: float) -> float:
    """By how much the least round-trip time of a round has to rise."""
    return min(max(rtt_s / DIVISOR, LEAST_THRESHOLD_S), MOST_THRESHOLD_S)


def risen_s(course: SenderCourse, base_s: float) -> float:
    """When the least round-trip time of a whole round was first above the threshold, at the end of that round.

    Raises:
        NotApplicableError: it never was.
    """
    limit_s = base_s + threshold_s(base_s)
    below = course.at_s[np.nan_to_num(course.rtt_s, nan=0.0) < limit_s]
    for begin_s in course.at_s[np.nan_to_num(course.rtt_s, nan=0.0) >= limit_s].tolist():
        end_s = begin_s + course.rtt_at(begin_s)
        if not np.any((below >= begin_s) & (below <= end_s)) and end_s < course.at_s[-1]:
            return float(end_s)
    raise NotApplicableError("no round had a least round-trip time above the threshold")


def round_growth(course: SenderCourse, begin_s: float, rounds: int) -> list[float]:
    """By what factor the window grew in each of some round trips from a time on.

    Raises:
        NotApplicableError: not one of them was over before the transfer was.
    """
    factors = []
    at_s = begin_s
    for _ in range(rounds):
        rtt_s = course.rtt_at(at_s)
        if at_s + rtt_s > course.at_s[-1]:
            break
        factors.append(course.window_at(at_s + rtt_s) / course.window_at(at_s))
        at_s += rtt_s
    if not factors:
        raise NotApplicableError(f"the transfer was over a round trip after {begin_s:.3g} s")
    return factors


class _HystartCase(ConformanceCase):
    family = CaseFamily.HYSTART
    slow_start = "hystart++"
    over_tcp = "Linux has HyStart of Ha and Rhee, not HyStart++"


class ConservativeSlowStart(_HystartCase):
    """The delay rises."""

    name = "hystart-exit"
    source = "RFC 9406, section 4.2"
    description = "When the least round-trip time of a round has risen by an eighth, the window grows by a quarter a round."
    scenario = SenderScenario(rate_mbit=20, rtt_ms=100, queue_bdp=14, seconds=6)

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        at_s = risen_s(course, self.scenario.rtt_s)
        rtt_s = course.rtt_at(at_s)
        # A round that has begun grows as it began; losses would end slow start by themselves.
        begin_s = at_s + rtt_s
        end_s = begin_s + course.rtt_at(begin_s)
        loss_s = course.first_loss_s(0.0)
        if loss_s is not None and loss_s < end_s:
            raise NotApplicableError("a loss ended slow start before the delay could")
        factors = round_growth(course, begin_s, 3)
        examination.measure(
            "most growth in a round after the rise", max(factors), high=_CONSERVATIVE_GROWTH
        )
        examination.level("the window at the rise", at_s, end_s, course.window_at(at_s))
        examination.marks.append(Mark(at_s, "the delay has risen"))
        examination.span_s = (0.0, end_s + 4 * rtt_s)


class ConservativeRounds(_HystartCase):
    """The end of conservative slow start."""

    name = "hystart-rounds"
    source = "RFC 9406, section 4.2"
    description = "After five rounds of conservative slow start congestion avoidance begins."
    scenario = ConservativeSlowStart.scenario

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        at_s = risen_s(course, self.scenario.rtt_s)
        begin_s = at_s
        for _ in range(CONSERVATIVE_ROUNDS + 2):
            begin_s += course.rtt_at(begin_s)
        loss_s = course.first_loss_s(0.0)
        if begin_s + course.rtt_at(begin_s) > course.at_s[-1]:
            raise NotApplicableError("the transfer ended before")
        if loss_s is not None and loss_s < begin_s:
            raise NotApplicableError("a loss ended slow start before the rounds were over")
        factors = round_growth(course, begin_s, 2)
        examination.measure(
            "growth in a round, seven rounds after the rise", max(factors), high=1.1
        )
        examination.marks += [
            Mark(at_s, "the delay has risen"),
            Mark(begin_s, "seven rounds later"),
        ]
        examination.level("the window then", begin_s, begin_s + 1.0, course.window_at(begin_s))
        examination.span_s = (0.0, begin_s + 1.0)


class SmallRise(_HystartCase):
    """The delay rises a little."""

    name = "hystart-small-rise"
    source = "RFC 9406, sections 4.2 and 4.3"
    description = "A rise of the round-trip time by less than an eighth does not end slow start."
    scenario = SenderScenario(
        rate_mbit=400,
        rtt_ms=100,
        queue_bdp=2,
        seconds=0.3,
        down={"changes": [{"at": f"{RISE_S:g} s", "delay": "56 ms"}]},
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        examine_doubling(course, examination, self.scenario)
        examination.marks.append(Mark(RISE_S, "6 ms more"))


class FallingDelay(_HystartCase):
    """The delay rises and falls."""

    name = "hystart-return"
    source = "RFC 9406, section 4.2"
    description = (
        "If the round-trip time falls again during conservative slow start, slow start goes on."
    )
    scenario = SenderScenario(
        rate_mbit=400,
        rtt_ms=100,
        queue_bdp=2,
        seconds=0.6,
        down={"changes": [{"at": "350 ms", "delay": "80 ms"}, {"at": "800 ms", "delay": "50 ms"}]},
    )

    @override
    def check(self, course: SenderCourse, examination: Examination) -> None:
        at_s = risen_s(course, self.scenario.rtt_s)
        slow = round_growth(course, at_s + course.rtt_at(at_s), 1)
        begin_s = FALL_S + 2.5 * self.scenario.rtt_s
        fast = round_growth(course, begin_s, 2)
        if course.window_at(begin_s) > self.scenario.bdp_bytes / 2:
            raise NotApplicableError("its window was too large to double when the delay fell")
        examination.measure("growth in a round after the rise", min(slow), high=1.5)
        examination.measure("growth in a round after the fall", max(fast), low=1.7)
        examination.marks += [
            Mark(RISE_S, "30 ms more"),
            Mark(at_s, "seen"),
            Mark(FALL_S, "30 ms less"),
        ]
        examination.span_s = (0.0, begin_s + 0.3)


CASES = (ConservativeSlowStart(), ConservativeRounds(), SmallRise(), FallingDelay())
