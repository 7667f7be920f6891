"""Cases of CUBIC against made courses."""

from __future__ import annotations

import pytest

from headway.instruments.conformance.cases.cubic import (
    ALPHA,
    BETA,
    CubicGrowth,
    Decrease,
    FastConvergence,
    RenoFriendly,
    RenoFriendlyLater,
    SpuriousLoss,
    cubic_window,
)
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.verdict import NotApplicableError
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.made_courses import Law, course
from tests.unit.instruments.conformance.test_newreno import cut_to

LOSS_S, RTT_S, MOST = 0.7, 0.1, 250.0
BEGIN_S = LOSS_S + RTT_S


@pytest.mark.parametrize(("share", "expected"), [(0.7, "pass"), (0.5, "fail"), (0.85, "fail")])
def test_a_loss_takes_three_tenths(share: float, expected: str) -> None:
    assert result(Decrease(), cut_to(share)) == expected


def after_loss(law: Law, seconds: float = 12.0) -> SenderCourse:
    """A sender that loses with 250 packets, and then follows a law of the seconds since it recovered."""
    return course(
        lambda at: MOST if at < LOSS_S else law(max(at - BEGIN_S, 0.0)),
        seconds=seconds,
        rtt_s=RTT_S,
        losses_s=(LOSS_S,),
    )


def test_the_cubic_function_begins_at_the_reduced_window_and_is_flat_at_the_former() -> None:
    assert cubic_window(0.0, BETA * MOST, MOST) == pytest.approx(BETA * MOST)
    rises_s = ((1 - BETA) * MOST / 0.4) ** (1 / 3)
    assert cubic_window(rises_s, BETA * MOST, MOST) == pytest.approx(MOST)
    assert cubic_window(rises_s + 5, BETA * MOST, MOST) == pytest.approx(MOST + 0.4 * 125)


def test_growth_by_the_cube_passes() -> None:
    assert result(CubicGrowth(), after_loss(lambda at: cubic_window(at, 175.0, MOST))) == "pass"


@pytest.mark.parametrize(
    "law",
    [
        lambda at: 175 + at / RTT_S,
        lambda at: cubic_window(at * 1.5, 175.0, MOST),
        lambda _: 175.0,
    ],
    ids=["linear", "half as fast again", "none"],
)
def test_other_growth_fails(law: Law) -> None:
    assert result(CubicGrowth(), after_loss(law)) == "fail"


def test_growth_that_ends_early_is_not_judged() -> None:
    short = after_loss(lambda at: cubic_window(at, 175.0, MOST), seconds=5.0)
    with pytest.raises(NotApplicableError, match="ended before"):
        result(CubicGrowth(), short)


@pytest.mark.parametrize(("share", "expected"), [(0.85, "pass"), (1.0, "fail")])
def test_fast_convergence(share: float, expected: str) -> None:
    def law(at: float) -> float:
        if at < 3.1:
            return MOST if at < LOSS_S else cubic_window(max(at - BEGIN_S, 0.0), 175.0, MOST)
        lost = cubic_window(3.1 - BEGIN_S, 175.0, MOST)
        return cubic_window(max(at - 3.2, 0.0), BETA * lost, share * lost)

    twice = course(law, seconds=11.0, rtt_s=RTT_S, losses_s=(LOSS_S, 3.1))
    assert result(FastConvergence(), twice) == expected


def friendly(first: float, later: float) -> SenderCourse:
    """A window of 60 packets that is cut to 42, and grows by packets a round of 20 ms: to 60, and then on."""
    rtt_s, loss_s = 0.02, 0.3
    back_s = loss_s + 0.02 + 18 / first * rtt_s

    def law(at: float) -> float:
        if at < loss_s:
            return 60.0
        if at < back_s:
            return 42 + first * max(at - loss_s - 0.02, 0.0) / rtt_s
        return 60 + later * (at - back_s) / rtt_s

    return course(law, seconds=4.0, rtt_s=rtt_s, losses_s=(loss_s,))


@pytest.mark.parametrize(("packets", "expected"), [(ALPHA, "pass"), (1.0, "fail"), (0.3, "fail")])
def test_the_reno_friendly_region(packets: float, expected: str) -> None:
    assert result(RenoFriendly(), friendly(packets, 1.0)) == expected


@pytest.mark.parametrize(("packets", "expected"), [(1.0, "pass"), (ALPHA, "fail")])
def test_the_reno_friendly_region_beyond_the_former_window(packets: float, expected: str) -> None:
    assert result(RenoFriendlyLater(), friendly(ALPHA, packets)) == expected


@pytest.mark.parametrize(("after", "expected"), [(160.0, "pass"), (112.0, "fail")])
def test_a_spurious_loss_is_undone(after: float, expected: str) -> None:
    undone = course(
        lambda at: 160.0 if at < 0.5 else 112.0 if at < 0.55 else after,
        seconds=1.5,
        rtt_s=0.06,
        losses_s=(0.5,),
    )
    assert result(SpuriousLoss(), undone) == expected
