"""Scales: pixels of values, and round values to label."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis.metric import metric_named
from headway.report.scale import Scale, tick_texts, value_scale, written


def test_values_have_places() -> None:
    assert Scale(0, 10, 100, 200)(5) == 150
    assert Scale(0, 10, 200, 100)(10) == 100
    assert Scale(1, 100, 0, 100, log=True)(10) == pytest.approx(50)


@pytest.mark.parametrize(
    ("scale", "most", "ticks"),
    [
        (Scale(0, 10, 0, 1), 6, [0, 2, 4, 6, 8, 10]),
        (Scale(0, 0.9, 0, 1), 5, [0, 0.2, 0.4, 0.6, 0.8]),
        (Scale(-15, 20, 0, 1), 5, [-10, 0, 10, 20]),
        (Scale(0.02, 150, 0, 1, log=True), 5, [0.1, 1, 10, 100]),
        (Scale(8, 190, 0, 1, log=True), 6, [10, 20, 50, 100]),
    ],
)
def test_ticks_are_round_and_few(scale: Scale, most: int, ticks: list[float]) -> None:
    assert scale.ticks(most) == pytest.approx(ticks)


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.integers(2, 12), st.booleans())
def test_ticks_are_within_and_in_order(low: float, ratio: float, most: int, log: bool) -> None:
    scale = Scale(low, low * ratio, 0, 100, log)
    ticks = scale.ticks(most)
    assert len(ticks) <= most
    assert all(one < other for one, other in pairwise(ticks))
    assert all(low * 0.999 <= tick <= low * ratio * 1.001 for tick in ticks)


def test_values_far_apart_are_logarithmic() -> None:
    assert value_scale([0.1, 100], 0, 1).log
    assert not value_scale([1, 2], 0, 1).log
    assert not value_scale([0, 100], 0, 1).log
    assert value_scale([1, 2], 0, 1).low == 0
    assert value_scale([], 0, 1)(0.5) == pytest.approx(0.5)
    assert value_scale([0, 0], 0, 1)(0) == 0


@given(st.lists(st.floats(-1e6, 1e6), max_size=8))
def test_every_value_is_on_its_scale(values: list[float]) -> None:
    scale = value_scale(values, 0, 1)
    assert scale.low < scale.high
    assert all(0 <= scale(value) <= 1 for value in values)


@given(st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=8))
def test_a_logarithmic_scale_has_room_at_both_ends_and_is_mostly_used(values: list[float]) -> None:
    if (scale := value_scale(values, 0, 1)).log:
        places = [scale(value) for value in values]
        assert 0 < min(places) < 0.05
        assert 0.95 < max(places) < 1


def test_labels_have_one_unit() -> None:
    total = metric_named("total_s")
    assert tick_texts(total, [0, 0.02, 0.04]) == ["0", "20 ms", "40 ms"]
    assert tick_texts(total, [0, 5, 10]) == ["0", "5 s", "10 s"]
    assert written(-14.5, "%") == "\N{MINUS SIGN}14.5 %"
