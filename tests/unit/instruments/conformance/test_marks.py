"""Cases of marks and of shares against made courses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headway.instruments.conformance.case import ConformanceCase
from headway.instruments.conformance.cases import prague, shares, signals
from headway.instruments.conformance.course import CourseSource, SenderCourse
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import NotApplicableError
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.made_courses import PACKET, course

RTT_S = 0.06
FRAME = 1514


def cut_to(share: float, again: float = 1.0) -> SenderCourse:
    """A sender that leaves a share of 100 packets when it notices what was marked at 2.5 s, and of that another 70 ms later."""
    return course(
        lambda at: 100.0 if at < 2.56 else 100 * share if at < 2.63 else 100 * share * again,
        seconds=3.5,
        rtt_s=RTT_S,
        marks_s=(2.56, 2.561),
    )


@pytest.mark.parametrize(
    ("case", "share", "expected"),
    [
        (signals.NewRenoMark(), 0.5, "pass"),
        (signals.NewRenoMark(), 0.8, "pass"),
        (signals.NewRenoMark(), 0.3, "fail"),
        (signals.NewRenoMark(), 1.0, "fail"),
        (signals.CubicMark(), 0.7, "pass"),
        (signals.CubicMark(), 0.85, "pass"),
        (signals.CubicMark(), 0.5, "fail"),
        (prague.FirstMark(), 0.5, "pass"),
        (prague.FirstMark(), 0.7, "fail"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_mark_cuts(case: ConformanceCase, share: float, expected: str) -> None:
    assert result(case, cut_to(share)) == expected


@pytest.mark.parametrize(("again", "expected"), [(1.0, "pass"), (0.5, "fail")])
def test_marks_of_a_flight_cut_once(again: float, expected: str) -> None:
    assert result(signals.NewRenoMarks(), cut_to(0.5, again)) == expected
    assert result(signals.CubicMarks(), cut_to(0.7, again)) == expected


@pytest.mark.parametrize("case", [signals.NewRenoMark(), signals.CubicMarksEachRound()])
def test_a_sender_that_hears_of_no_mark_is_not_judged(case: ConformanceCase) -> None:
    deaf = course(lambda _: 100.0, seconds=6.0, rtt_s=RTT_S)
    with pytest.raises(NotApplicableError, match="without ECN"):
        result(case, deaf)


def test_losses_beside_marks_are_not_judged() -> None:
    lossy = course(
        lambda at: 100.0 if at < 2.56 else 50.0,
        seconds=3.5,
        rtt_s=RTT_S,
        marks_s=(2.56,),
        losses_s=(2.58,),
    )
    with pytest.raises(NotApplicableError, match="declared packets lost"):
        result(signals.NewRenoMark(), lossy)


def cut_every(seconds: float, factor: float) -> SenderCourse:
    """A sender of 400 packets over 200 ms that cuts its window at 4.2 s and every so many seconds later, until 5.01 s."""

    def window(at: float) -> float:
        cuts = int((min(at, 5.01) - 4.2) / seconds) + 1 if at >= 4.2 else 0
        return float(400 * factor**cuts)

    return course(window, seconds=7.0, rtt_s=0.2, marks_s=(4.2, 5.0))


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "pass"), (0.3, "pass"), (0.11, "fail"), (2.0, "fail")]
)
def test_marks_in_each_round_cut_once_in_each(seconds: float, expected: str) -> None:
    assert result(signals.NewRenoMarksEachRound(), cut_every(seconds, 0.5)) == expected


@pytest.mark.parametrize(("seconds", "expected"), [(0.2, "pass"), (2.0, "fail")])
def test_cubics_marks_in_each_round_cut_once_in_each(seconds: float, expected: str) -> None:
    assert result(signals.CubicMarksEachRound(), cut_every(seconds, 0.7)) == expected


@pytest.mark.parametrize(("factor", "expected"), [(0.5, "pass"), (0.3, "fail")])
def test_the_kernel_states_what_a_cut_leaves(factor: float, expected: str) -> None:
    known = cut_every(0.2, factor)
    # It takes a round trip to come down to its threshold.
    late = np.interp(known.at_s - 0.2, known.at_s, known.window_bytes)
    kernel = replace(
        known,
        source=CourseSource.TCP_INFO,
        window_bytes=late,
        threshold_bytes=known.window_bytes,
    )
    assert result(signals.NewRenoMarksEachRound(), kernel) == expected


def marked_again(share: float) -> SenderCourse:
    """A sender with a first mark 15 round trips before it leaves a share of its window because of others."""
    later_s = 1.46
    return course(
        lambda at: 100.0 if at < later_s else 100 * share,
        seconds=3.0,
        rtt_s=RTT_S,
        marks_s=(later_s - 15 * RTT_S, later_s),
    )


@pytest.mark.parametrize("case", [prague.LaterMark(), prague.LaterMarks()])
@pytest.mark.parametrize(
    ("share", "expected"),
    [(1 - prague.average_after(15) / 2, "pass"), (0.5, "fail"), (0.97, "fail")],
)
def test_an_average_judges_later_marks(case: ConformanceCase, share: float, expected: str) -> None:
    assert result(case, marked_again(share)) == expected


def test_an_average_without_a_first_mark_is_not_judged() -> None:
    with pytest.raises(NotApplicableError, match="slow start"):
        result(prague.LaterMark(), cut_to(0.5))


@pytest.mark.parametrize(("share", "expected"), [(0.5, "pass"), (0.8, "fail")])
def test_a_loss_halves_whatever_the_average(share: float, expected: str) -> None:
    lossy = course(
        lambda at: 100.0 if at < 2.58 else 100 * share,
        seconds=3.5,
        rtt_s=RTT_S,
        losses_s=(2.58,),
        marks_s=(0.4,),
    )
    assert result(prague.PragueLoss(), lossy) == expected


def with_share(scenario: SenderScenario, share: float) -> SenderCourse:
    """A sender with a share of a link, over a queue that is half full."""
    rtt_s = 0.08
    packets = share * scenario.rate_bytes_s * rtt_s / FRAME
    return course(
        lambda _: 2 * packets, flight=lambda _: packets, seconds=60.0, rtt_s=rtt_s, every_s=0.01
    )


@pytest.mark.parametrize("case", [shares.NewRenoShare(), shares.CubicShare()])
@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, "pass"), (0.4, "pass"), (0.9, "fail"), (0.2, "fail")]
)
def test_shares(case: ConformanceCase, share: float, expected: str) -> None:
    assert result(case, with_share(case.scenario, share)) == expected


def test_a_share_of_a_short_transfer_is_not_judged() -> None:
    short = course(lambda _: PACKET, seconds=20.0, rtt_s=0.08)
    with pytest.raises(NotApplicableError, match="ended"):
        result(shares.NewRenoShare(), short)
