"""Cases of HyStart++ against made courses."""

from __future__ import annotations

import pytest

from headway.instruments.conformance.cases.hystart import (
    FALL_S,
    RISE_S,
    ConservativeRounds,
    ConservativeSlowStart,
    FallingDelay,
    SmallRise,
    threshold_s,
)
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.verdict import NotApplicableError
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.made_courses import course

RTT_S = 0.1


@pytest.mark.parametrize(("rtt_s", "expected"), [(0.02, 0.004), (0.1, 0.0125), (1.0, 0.016)])
def test_the_threshold_is_an_eighth_within_limits(rtt_s: float, expected: float) -> None:
    assert threshold_s(rtt_s) == pytest.approx(expected)


def queueing(after: float, rounds: int = 5) -> SenderCourse:
    """Slow start whose delay rises by 30 ms after half a second; then the window grows by a factor for some rounds."""

    def law(at: float) -> float:
        if at < 0.7:
            return 10 * 2.0 ** (at / RTT_S)
        return float(10 * 2.0**7 * after ** min((at - 0.7) / 0.13, rounds))

    return course(law, seconds=4.0, rtt_s=RTT_S, rtt=lambda at: 0.13 if at > 0.5 else RTT_S)


@pytest.mark.parametrize(("after", "expected"), [(1.25, "pass"), (2.0, "fail"), (1.5, "fail")])
def test_a_rise_of_the_delay_slows_growth(after: float, expected: str) -> None:
    assert result(ConservativeSlowStart(), queueing(after)) == expected


@pytest.mark.parametrize(("rounds", "expected"), [(5, "pass"), (20, "fail")])
def test_five_slow_rounds(rounds: int, expected: str) -> None:
    assert result(ConservativeRounds(), queueing(1.25, rounds)) == expected


def test_a_delay_that_does_not_rise_is_not_judged() -> None:
    steady = course(lambda at: 10 * 2.0 ** (at / RTT_S), seconds=2.0, rtt_s=RTT_S)
    with pytest.raises(NotApplicableError, match="above the threshold"):
        result(ConservativeSlowStart(), steady)


@pytest.mark.parametrize(("ends_s", "expected"), [(9.0, "pass"), (0.45, "fail")])
def test_a_small_rise_changes_nothing(ends_s: float, expected: str) -> None:
    growing = course(
        lambda at: 10 * 2.0 ** (min(at, ends_s) / RTT_S + max(at - ends_s, 0) * 2),
        seconds=2.0,
        rtt_s=RTT_S,
    )
    assert result(SmallRise(), growing) == expected


@pytest.mark.parametrize(("factor", "expected"), [(2.0, "pass"), (1.25, "fail")])
def test_slow_start_goes_on_when_the_delay_falls(factor: float, expected: str) -> None:
    slow_s, fast_s = RISE_S + 0.15, FALL_S + 0.1

    def law(at: float) -> float:
        if at < slow_s:
            return 2 * 2.0 ** (at / RTT_S)
        slow = 2 * 2.0 ** (slow_s / RTT_S) * 1.25 ** ((min(at, fast_s) - slow_s) / 0.13)
        return float(slow if at < fast_s else slow * factor ** ((at - fast_s) / RTT_S))

    falling = course(
        law, seconds=2.0, rtt_s=RTT_S, rtt=lambda at: 0.13 if RISE_S < at < FALL_S else RTT_S
    )
    assert result(FallingDelay(), falling) == expected


def test_a_transfer_that_ends_before_the_delay_falls_is_not_judged() -> None:
    short = course(
        lambda at: 10 * 2.0 ** (at / RTT_S),
        seconds=0.8,
        rtt_s=RTT_S,
        rtt=lambda at: 0.13 if at > 0.4 else RTT_S,
    )
    with pytest.raises(NotApplicableError, match="was over"):
        result(FallingDelay(), short)
