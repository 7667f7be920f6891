"""Where between two neighbours a sentence changes."""

from __future__ import annotations

import pytest

from headway.nearby.fate import SentenceFate
from headway.nearby.turning import FACTOR, AxisPoint, TurningSpan, spans


def point(number: float, turn: float) -> AxisPoint:
    fate = SentenceFate.TURNS if number > turn else SentenceFate.HOLDS
    return AxisPoint(number, fate, fate)


@pytest.mark.parametrize("turn", [101, 120, 150, 199.0])
def test_the_span_is_halved_until_it_is_narrow(turn: float) -> None:
    points = [point(200, turn), point(50, turn)]
    for _ in range(10):
        (found,) = spans(100, points)
        if found.is_narrow:
            break
        points.append(point(found.middle, turn))
    assert found.is_narrow and len(points) <= 6
    assert found.holds.number <= turn < found.changes.number
    assert found.changes.number / found.holds.number <= FACTOR


def test_both_sides_may_change() -> None:
    turned = [AxisPoint(number, SentenceFate.GONE, SentenceFate.GONE) for number in (50.0, 200.0)]
    found = spans(100, turned)
    assert [(one.holds.number, one.changes.number) for one in found] == [(100, 50), (100, 200)]


def test_what_is_undecided_begins_no_span_but_estimates_narrow_one() -> None:
    open_one = AxisPoint(141, SentenceFate.UNDECIDED, SentenceFate.TURNS)
    assert not spans(100, [open_one])
    (found,) = spans(100, [open_one, point(200, 100)])
    assert found == TurningSpan(AxisPoint(100, SentenceFate.HOLDS, SentenceFate.HOLDS), open_one)
    assert not found.is_decided
