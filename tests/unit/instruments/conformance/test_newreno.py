"""Cases of NewReno against made courses: a sender that conforms passes, and one that does not fails."""

from __future__ import annotations

import pytest

from headway.instruments.conformance.cases.newreno import Halving, SlowStart
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.verdict import NotApplicableError
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.made_courses import course

RTT_S = 0.06


def cut_to(share: float) -> SenderCourse:
    """A sender that leaves a share of 100 packets when it notices, 80 ms later, what was lost at 2.5 s."""
    return course(
        lambda at: 100.0 if at < 2.58 else 100 * share,
        seconds=3.5,
        rtt_s=RTT_S,
        losses_s=(2.58,),
    )


def growing_by(factor: float) -> SenderCourse:
    """A slow start that multiplies a window of ten packets by a factor in a round trip of 100 ms."""
    return course(lambda at: 10 * factor ** (at // 0.1), seconds=0.8, rtt_s=0.1)


@pytest.mark.parametrize(("share", "expected"), [(0.5, "pass"), (0.7, "fail"), (0.25, "fail")])
def test_a_loss_halves(share: float, expected: str) -> None:
    assert result(Halving(), cut_to(share)) == expected


def test_losses_that_nobody_noticed_are_not_judged() -> None:
    unnoticed = course(lambda _: 100.0, seconds=3.5, rtt_s=RTT_S)
    with pytest.raises(NotApplicableError, match="declared no packet lost"):
        result(Halving(), unnoticed)


def test_a_sender_that_recovers_already_is_not_judged() -> None:
    busy = course(lambda _: 100.0, seconds=3.5, rtt_s=RTT_S, losses_s=(2.45, 2.58))
    with pytest.raises(NotApplicableError, match="recovering"):
        result(Halving(), busy)


@pytest.mark.parametrize(("factor", "expected"), [(2.0, "pass"), (1.5, "fail"), (3.0, "fail")])
def test_slow_start_doubles(factor: float, expected: str) -> None:
    assert result(SlowStart(), growing_by(factor)) == expected
