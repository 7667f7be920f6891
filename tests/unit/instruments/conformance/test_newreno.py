"""Cases of NewReno against made courses: a sender that conforms passes, and one that does not fails."""

from __future__ import annotations

import pytest

from headway.instruments.conformance.cases.newreno import (
    Collapse,
    Halving,
    LinearGrowth,
    OneCut,
    ProbeTimeout,
    SlowStartDoubling,
    UnusedWindow,
)
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
    assert result(SlowStartDoubling(), growing_by(factor)) == expected


def cut_twice(again_s: float) -> SenderCourse:
    """A sender that halves 100 packets at 2.58 s, and once more later."""
    return course(
        lambda at: 100.0 if at < 2.58 else 50.0 if at < again_s else 25.0,
        seconds=4.0,
        rtt_s=RTT_S,
        losses_s=(2.58,) * 10,
    )


@pytest.mark.parametrize(("again_s", "expected"), [(3.6, "pass"), (2.7, "fail")])
def test_losses_of_a_flight_halve_once(again_s: float, expected: str) -> None:
    assert result(OneCut(), cut_twice(again_s)) == expected


@pytest.mark.parametrize(("packets", "expected"), [(1.0, "pass"), (0.5, "fail"), (2.0, "fail")])
def test_windows_grow_by_a_packet_a_round(packets: float, expected: str) -> None:
    growing = course(
        lambda at: 120.0 if at < 0.5 else 60 + packets * (at - 0.5) / RTT_S,
        seconds=4.5,
        rtt_s=RTT_S,
        losses_s=(0.5,),
    )
    assert result(LinearGrowth(), growing) == expected


@pytest.mark.parametrize(("least", "expected"), [(2.0, "pass"), (30.0, "fail")])
def test_little_is_left_after_an_outage(least: float, expected: str) -> None:
    outage = course(lambda at: 60.0 if at < 5.6 else least, seconds=7.0, rtt_s=RTT_S)
    assert result(Collapse(), outage) == expected


@pytest.mark.parametrize(("after", "expected"), [(60.0, "pass"), (30.0, "fail")])
def test_silence_changes_no_window(after: float, expected: str) -> None:
    silent = course(lambda at: 60.0 if at < 2.8 else after, seconds=4.0, rtt_s=RTT_S)
    assert result(ProbeTimeout(), silent) == expected


@pytest.mark.parametrize(("most", "expected"), [(180.0, "pass"), (900.0, "fail")])
def test_unused_windows_do_not_grow(most: float, expected: str) -> None:
    bursty = course(
        lambda at: min(90 + 50 * at, most),
        flight=lambda at: 90.0 if at % 1 < 0.2 else 0.0,
        seconds=20.0,
        rtt_s=0.1,
    )
    assert result(UnusedWindow(), bursty) == expected


def test_windows_that_are_always_used_are_not_judged() -> None:
    with pytest.raises(NotApplicableError, match="hardly ever limited"):
        result(UnusedWindow(), course(lambda at: 10 + at, seconds=5.0, rtt_s=0.1))
