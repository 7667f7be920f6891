"""How estimates are written beside their intervals."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from headway.analysis.difference import Difference
from headway.analysis.estimate_text import Written, measured, reach, signed, sized
from headway.analysis.numbers import MINUS
from headway.analysis.sample import Measurements, Observation
from headway.statistics.interval import Interval

_RATIOS = st.one_of(
    st.floats(1e-3, 1e3),
    st.floats(0.8, 1.25),
    st.floats(0.9999, 1.0001),
    st.sampled_from([1.0, math.nextafter(1, 2), math.nextafter(1, 0), math.inf]),
)


def _difference(low: float, middle: float, high: float, level: float = 0.95) -> Difference:
    interval = Interval(low, high, level, "signed ranks")
    return Difference((), (), middle, (middle > 0) - (middle < 0), interval)


def _number(text: str) -> tuple[float, float]:
    """The least and the greatest number that a text may stand for."""
    if text.startswith("less than "):
        return 0.0, float(text.removeprefix("less than "))
    if text.startswith("above "):
        low = float(text.removeprefix("above "))
        return low, math.nextafter(low, math.inf)
    if text.startswith("below "):
        high = float(text.removeprefix("below "))
        return math.nextafter(high, -math.inf), high
    value = float(text.removeprefix("×").replace(MINUS, "-").replace("∞", "inf"))
    return value, value


@given(st.lists(_RATIOS, min_size=3, max_size=3), st.sampled_from([signed, sized]))
@example([1.185, 1.1866, 1.188], sized)
@example([1.0, 1.06, 1.12], sized)
@example([math.nextafter(1, 2), 1.02, 1.04], signed)
def test_an_estimate_stands_within_the_interval_that_is_printed(
    ratios: list[float], write: object
) -> None:
    low, middle, high = sorted(ratios)
    assume(math.isfinite(middle))
    told: Written = write(_difference(low - 1, middle - 1, high - 1))  # type: ignore[operator]
    assert _number(told.low)[0] <= _number(told.value)[1]
    assert _number(told.value)[0] <= _number(told.high)[1]


@given(_RATIOS, _RATIOS, st.sampled_from([5e-324, 1e-9, 1e-5, 1e-4, 3e-4, 0.004, 0.01]))
def test_an_interval_without_zero_shows_its_sign(wide: float, way: float, least: float) -> None:
    """Also where its end is so close to 0 that no digits would tell."""
    end = least + abs(math.log(wide)) if math.isfinite(wide) else math.inf
    assume(end > least)
    middle = (least + min(end, 1.0)) / 2
    assume(least <= middle <= end)
    low, high = (least, end) if way >= 1 else (-min(end, 1.0), -least)
    middle = middle if way >= 1 else -middle
    assume(low <= middle <= high)
    found = _difference(low, middle, high)
    for told, nothing in ((signed(found), "0"), (sized(found), "0")):
        beside = "1" if told.factor else nothing
        for text in (told.low, told.high):
            shown = text.strip("×+" + MINUS)
            assert (
                not shown
                or shown.startswith(("above", "below", "∞"))
                or float(shown) != float(beside)
            )


@pytest.mark.parametrize(
    ("low", "middle", "high", "said"),
    [
        (0.185, 0.1866, 0.188, ("18.7 %", "18.5 to 18.8 %")),
        (-0.30, -0.19, -0.05, ("19 %", "5 to 30 %")),
        (0.004, 0.06, 0.12, ("6.0 %", "0.4 to 12.0 %")),
        (-0.2, 0.003, 0.25, ("less than 1 %", f"{MINUS}20 to 25 %")),
        (1.1, 1.4, 1.9, ("a factor of 2.4", "2.1 to 2.9")),
        (0.2, 0.8, 41.0, ("a factor of 1.8", "1.2 to 42")),
        (5e-324, 0.02, 0.04, ("2 %", "above 0 to 4 %")),
    ],
)
def test_sizes_are_written_with_the_digits_of_their_interval(
    low: float, middle: float, high: float, said: tuple[str, str]
) -> None:
    told = sized(_difference(low, middle, high))
    assert (told.size, told.interval) == said


@pytest.mark.parametrize(
    ("low", "middle", "high", "said"),
    [
        (-0.006, 0.002, 0.009, ("+0.2 %", f"{MINUS}0.6 to +0.9 %")),
        (-0.3, -0.19, -0.002, (f"{MINUS}19.0 %", f"{MINUS}30.0 to {MINUS}0.2 %")),
        (-0.2, 0.5, 12.0, ("×1.5", "×0.80 to ×13")),
        (-0.04, -0.02, -5e-324, (f"{MINUS}2 %", f"{MINUS}4 to below 0 %")),
        (0.4, 0.5, math.inf, ("+50 %", "+40 to +∞ %")),
    ],
)
def test_differences_in_tables_have_signs(
    low: float, middle: float, high: float, said: tuple[str, str]
) -> None:
    told = signed(_difference(low, middle, high))
    assert (told.size, told.interval) == said


def test_too_few_pairs_have_a_range() -> None:
    found = _difference(-0.1, 0.1, 0.2)
    few = Difference((), (), 0.1, 1, Interval(-0.1, 0.2, 0.75, "range", 0.95))
    assert sized(found).sure == (f"95 % interval {MINUS}10 to 20 %",)
    assert sized(few).sure == (f"range of pairs {MINUS}10 to 20 %",)
    assert sized(Difference((), (), 0.1234, 1, None)).sure == ()


def test_values_in_their_unit_show_the_sign_of_their_interval() -> None:
    assert measured(18.66, Interval(18.5, 18.8, 0.95, "")) == ("18.7", "18.5 to 18.8")
    assert measured(0.2, Interval(5e-324, 0.4, 0.95, "")) == ("0.200", "above 0 to 0.400")
    assert measured(0.2, None) == ("0.200", "")


def test_a_spread_beside_a_median_reaches_to_the_farther_end() -> None:
    def of(*values: float) -> str:
        measurements = Measurements.of(Observation(seed, 0, v) for seed, v in enumerate(values))
        assert measurements.sample
        return reach(measurements.sample, "1.00")

    assert of(0.9, 0.95, 1.0, 1.0, 1.05, 1.2) == "±0.20"
    assert of(0.9, 0.95, 1.0, 1.0, 1.05, 2.4) == "+1.40"
    assert of(1.0, 1.0, 1.0, 1.0, 1.0, 1.001) == ""
